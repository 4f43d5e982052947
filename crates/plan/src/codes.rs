//! QR codes of labels.
//!
//! Source: ISO/IEC 18004:2015, QR code bar code symbology specification; drawn by qrcodegen.

use qrcodegen::{QrCode, QrCodeEcc};

/// The QR code of `words`, a row of `0` and `1` (dark) for each row of modules, without the blank
/// border of four modules that a reader needs; `None` where `words` are too many for a code.
///
/// Up to 15 % of it may be unreadable (level M). O(words).
pub fn qr_code(words: &str) -> Option<Vec<String>> {
    let code = QrCode::encode_text(words, QrCodeEcc::Medium).ok()?;
    let row = |y| (0..code.size()).map(|x| if code.get_module(x, y) { '1' } else { '0' }).collect();
    Some((0..code.size()).map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_square_with_the_patterns_that_readers_look_for() {
        let code = qr_code("link-0\nR00-U01-P05\nR00-U02-P06").expect("short");
        // 30 bytes: more than the 26 of version 2-M; version 3 has 17 + 4 * 3 modules
        assert_eq!(code.len(), 29);
        let finder = ["1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"];
        for (y, row) in finder.iter().enumerate() {
            assert_eq!(&code[y][..7], *row);
            assert_eq!(&code[y][22..], *row);
            assert_eq!(&code[22 + y][..7], *row);
        }
        assert!(code.iter().all(|row| row.len() == 29));
        assert_eq!(qr_code(&"x".repeat(2332)), None, "version 40-M holds 2331 bytes");
        assert_eq!(qr_code(&"x".repeat(2331)).expect("it fits").len(), 177);
    }
}
