//! Finite fields GF(p^n) by logarithm tables.
//!
//! Source: Lidl & Niederreiter, "Finite Fields", ch. 2. Elements are numbered `0..q`: the number's
//! base-p digits, lowest first, are the coefficients of the element's polynomial. The field is that
//! of the numerically first irreducible monic polynomial, its generator the numerically smallest
//! primitive element, so that labels are the same everywhere.

use crate::error::Refusal;

/// The largest order that is built (tables take O(q) memory, addition O(log q) time).
pub const MAX_ORDER: u32 = 1 << 16;

/// The finite field of `q` elements.
#[derive(Debug, Clone)]
pub struct FiniteField {
    q: u32,
    p: u32,
    /// `exp[i]` is the generator to the power of `i`, for `i < 2 (q - 1)`.
    exp: Vec<u32>,
    /// `log[x]` is the exponent `i` with `exp[i] = x`, for `x > 0`.
    log: Vec<u32>,
}

/// `(p, n)` with `q = p^n`, p prime and n at least 1, or `None`.
pub fn prime_power(q: u32) -> Option<(u32, u32)> {
    if q < 2 {
        return None;
    }
    let p = (2..=q.isqrt()).find(|d| q.is_multiple_of(*d)).unwrap_or(q);
    let (mut rest, mut n) = (q, 0);
    while rest.is_multiple_of(p) {
        rest /= p;
        n += 1;
    }
    (rest == 1).then_some((p, n))
}

impl FiniteField {
    /// The field of order `q`.
    ///
    /// # Errors
    /// When `q` is no prime power or above [`MAX_ORDER`]; the refusal names the nearest orders.
    pub fn new(q: u32) -> Result<Self, Refusal> {
        let Some((p, n)) = prime_power(q).filter(|_| q <= MAX_ORDER) else {
            let below = (2..q.min(MAX_ORDER)).rev().find(|&x| prime_power(x).is_some());
            let above = (q..=MAX_ORDER).find(|&x| prime_power(x).is_some());
            let near: Vec<String> = below.into_iter().chain(above).map(|x| x.to_string()).collect();
            return Err(Refusal::new(
                "q",
                format!("{q} is not a prime power up to {MAX_ORDER}"),
                format!("nearest: {}", near.join(", ")),
            ));
        };
        let modulus = if n == 1 { Vec::new() } else { first_irreducible(p, n) };
        let mul = |a: u32, b: u32| slow_mul(a, b, p, &modulus);
        let generator =
            (1..q).find(|&g| is_primitive(g, q, mul)).expect("every finite field has a generator");
        let order = (q - 1) as usize;
        let mut exp = vec![1; 2 * order];
        let mut log = vec![0; q as usize];
        for i in 1..2 * order {
            exp[i] = mul(exp[i - 1], generator);
        }
        for i in 0..order {
            log[exp[i] as usize] = i as u32;
        }
        Ok(Self { q, p, exp, log })
    }

    /// The number of elements.
    pub fn order(&self) -> u32 {
        self.q
    }

    /// The generator to the power of `i` (any `i`).
    pub fn power(&self, i: u32) -> u32 {
        self.exp[(i % (self.q - 1)) as usize]
    }

    /// `a + b`: digit-wise modulo p. O(log q).
    pub fn add(&self, a: u32, b: u32) -> u32 {
        if self.p == self.q {
            return (a + b) % self.q;
        }
        if self.p == 2 {
            return a ^ b;
        }
        self.digitwise(a, b, |x, y| (x + y) % self.p)
    }

    /// `a - b`. O(log q).
    pub fn sub(&self, a: u32, b: u32) -> u32 {
        self.digitwise(a, b, |x, y| (x + self.p - y) % self.p)
    }

    /// `a * b`. O(1).
    pub fn mul(&self, a: u32, b: u32) -> u32 {
        if a == 0 || b == 0 {
            return 0;
        }
        self.exp[(self.log[a as usize] + self.log[b as usize]) as usize]
    }

    /// The multiplicative inverse of `a`, `None` for 0. O(1).
    pub fn inverse(&self, a: u32) -> Option<u32> {
        (a != 0).then(|| self.exp[(self.q - 1 - self.log[a as usize]) as usize])
    }

    fn digitwise(&self, mut a: u32, mut b: u32, op: impl Fn(u32, u32) -> u32) -> u32 {
        let (mut sum, mut place) = (0, 1);
        while a > 0 || b > 0 {
            sum += place * op(a % self.p, b % self.p);
            a /= self.p;
            b /= self.p;
            place *= self.p;
        }
        sum
    }
}

/// The low `n` coefficients of the numerically first irreducible monic polynomial of degree n.
fn first_irreducible(p: u32, n: u32) -> Vec<u32> {
    let count = p.pow(n);
    (0..count)
        .map(|code| digits(code, p, n))
        .find(|low| is_irreducible(low, p))
        .expect("irreducible polynomials of every degree exist over every prime field")
}

fn digits(mut code: u32, p: u32, n: u32) -> Vec<u32> {
    (0..n)
        .map(|_| {
            let digit = code % p;
            code /= p;
            digit
        })
        .collect()
}

/// Whether x^n + low has no monic divisor of degree 1..=n/2, by trial division.
fn is_irreducible(low: &[u32], p: u32) -> bool {
    let n = low.len() as u32;
    (1..=n / 2).all(|d| {
        (0..p.pow(d)).all(|code| {
            let divisor = digits(code, p, d);
            let mut rest: Vec<u32> = low.iter().copied().chain([1]).collect();
            for top in (d as usize..rest.len()).rev() {
                let factor = rest[top];
                for (i, &c) in divisor.iter().enumerate() {
                    let at = top - d as usize + i;
                    rest[at] = (rest[at] + (p - c % p) * factor) % p;
                }
                rest[top] = 0;
            }
            rest.iter().any(|&c| c != 0)
        })
    })
}

fn slow_mul(a: u32, b: u32, p: u32, modulus: &[u32]) -> u32 {
    let n = modulus.len();
    if n == 0 {
        return (u64::from(a) * u64::from(b) % u64::from(p)) as u32;
    }
    let (x, y) = (digits(a, p, n as u32), digits(b, p, n as u32));
    let mut product = vec![0; 2 * n];
    for (i, &u) in x.iter().enumerate() {
        for (j, &v) in y.iter().enumerate() {
            product[i + j] = (product[i + j] + u * v) % p;
        }
    }
    for top in (n..2 * n).rev() {
        let factor = product[top];
        for (i, &c) in modulus.iter().enumerate() {
            let at = top - n + i;
            product[at] = (product[at] + (p - c) * factor) % p;
        }
        product[top] = 0;
    }
    product[..n].iter().rev().fold(0, |code, &digit| code * p + digit)
}

/// Whether `g` generates the multiplicative group: g^((q-1)/r) is not 1 for any prime r.
fn is_primitive(g: u32, q: u32, mul: impl Fn(u32, u32) -> u32) -> bool {
    let order = q - 1;
    let power = |mut e: u32| {
        let (mut base, mut result) = (g, 1);
        while e > 0 {
            if e & 1 == 1 {
                result = mul(result, base);
            }
            base = mul(base, base);
            e >>= 1;
        }
        result
    };
    (2..=order)
        .filter(|r| order.is_multiple_of(*r) && prime_power(*r) == Some((*r, 1)))
        .all(|r| power(order / r) != 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders() -> impl Iterator<Item = u32> {
        (2..=128).filter(|&q| prime_power(q).is_some())
    }

    #[test]
    fn there_are_44_prime_powers_up_to_128() {
        // the prime powers: 31 primes, and the 13 proper powers 4 8 16 32 64 128 9 27 81 25 125 49
        // 121
        assert_eq!(orders().count(), 44);
    }

    #[test]
    fn the_axioms_hold_in_every_field_up_to_32() {
        for q in orders().filter(|&q| q <= 32) {
            let f = FiniteField::new(q).expect("a prime power");
            for a in 0..q {
                assert_eq!(f.add(a, 0), a);
                assert_eq!(f.mul(a, 1), a);
                assert_eq!(f.add(f.sub(0, a), a), 0);
                if let Some(inverse) = f.inverse(a) {
                    assert_eq!(f.mul(a, inverse), 1);
                }
                for b in 0..q {
                    assert_eq!(f.add(a, b), f.add(b, a));
                    assert_eq!(f.sub(f.add(a, b), b), a);
                    for c in 0..q {
                        assert_eq!(f.mul(a, f.add(b, c)), f.add(f.mul(a, b), f.mul(a, c)), "q={q}");
                        assert_eq!(f.mul(a, f.mul(b, c)), f.mul(f.mul(a, b), c), "q={q}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_generator_reaches_every_element_once() {
        for q in orders() {
            let f = FiniteField::new(q).expect("a prime power");
            let mut seen: Vec<u32> = (0..q - 1).map(|i| f.power(i)).collect();
            seen.sort_unstable();
            assert_eq!(seen, (1..q).collect::<Vec<_>>(), "q={q}");
        }
    }

    #[test]
    fn smallest_primitive_roots_of_primes_are_the_known_ones() {
        for (q, root) in [(3, 2), (5, 2), (7, 3), (11, 2), (13, 2), (17, 3), (19, 2), (23, 5)] {
            assert_eq!(FiniteField::new(q).expect("prime").power(1), root);
        }
    }

    #[test]
    fn other_orders_are_refused_with_their_neighbours() {
        let refusal = FiniteField::new(6).expect_err("6 is no prime power");
        assert_eq!(refusal.to_string(), "q: 6 is not a prime power up to 65536; nearest: 5, 7");
        assert!(
            FiniteField::new(0).is_err()
                && FiniteField::new(1).is_err()
                && FiniteField::new(70_000).is_err()
        );
    }
}
