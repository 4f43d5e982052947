//! Every format of the table: its example is read, known again, and comes back as it was written.

use super::*;
use base::QuietWatch;
use std::collections::HashSet;
use traffic::workload::Schedule;

fn all() -> impl Iterator<Item = &'static TraceFormat> {
    FORMATS.iter().chain([&page_htsim_flows::ENTRY])
}

fn read(format: &TraceFormat, files: &ExampleFiles) -> Schedule {
    let found = format.read(&format.of_ranks(files), &GivenParameters::new(), &QuietWatch);
    found.unwrap_or_else(|why| panic!("{}: {why}", format.part.name))
}

#[test]
fn names_are_unique_and_every_format_says_what_it_is() {
    let names: HashSet<&str> = all().map(|format| format.part.name).collect();
    assert_eq!(names.len(), all().count());
    assert!(all().all(|format| !format.part.doc.is_empty() && !format.part.doc.ends_with('.')));
}

#[test]
fn the_example_of_every_format_is_read_and_named_as_the_format_says() {
    for format in all() {
        let files = format.example();
        let ranks = format.of_ranks(&files);
        assert!(read(format, &files).ranks() > 0);
        let stands_for_it =
            match format.naming {
                TraceFileNaming::One(_) => {
                    assert_eq!(ranks.len(), 1, "{}", format.part.name);
                    files[0].0.clone()
                }
                TraceFileNaming::PerRank { before, .. } => {
                    assert!(ranks.iter().enumerate().all(|(rank, (name, _))| {
                        name.starts_with(&format!("run{before}{rank}"))
                    }));
                    files[0].0.clone()
                }
                TraceFileNaming::Indexed { index, ranks: count, .. } => {
                    let (name, text) = files.last().expect("the index");
                    assert_eq!(*name, format!("run{index}"));
                    let text = String::from_utf8(text.clone()).expect("text");
                    assert_eq!(count(&text), Ok(ranks.len() as u32));
                    name.clone()
                }
            };
        assert!(format.is_named(&stands_for_it), "{stands_for_it}");
        assert!(format.is_named(&format!("{stands_for_it}.gz")), "{stands_for_it}");
    }
}

#[test]
fn what_is_written_is_read_as_the_same_schedule() {
    for format in FORMATS {
        let (Some(writer), TraceFileNaming::One(_)) = (format.writer, format.naming) else {
            continue;
        };
        let schedule = kind::example_schedule();
        let written = writer.write(&schedule, "run", &QuietWatch).expect("it is small");
        assert_eq!(written.operations, schedule.ops().len() as u64);
        assert_eq!(written.bytes, written.files[0].1.len() as u64);
        assert_eq!(read(format, &written.files), schedule, "{}", format.part.name);
    }
}

#[test]
fn the_content_of_a_file_says_its_format_before_its_name_does() {
    let ones = FORMATS.iter().filter(|format| matches!(format.naming, TraceFileNaming::One(_)));
    for format in ones {
        let content = format.example().swap_remove(0).1;
        if !format.looks(&content) {
            continue;
        }
        for name in ["", "schedule", "run.goal", "run.bin", "run.bin.gz"] {
            let found = of_file(name, &content).expect("it is known");
            assert_eq!(found.part.name, format.part.name, "{name}");
        }
    }
    // a file of nothing is known by its name
    assert_eq!(of_file("run.bin", b"?").map(|format| format.part.name), Ok("goal-binary"));
    assert_eq!(of_file("run", b"?").map(|format| format.part.name), Ok("goal"));
    let refused = of_file("run", b"a\xff").expect_err("it is no text");
    assert_eq!(refused.why, "byte 1 is not UTF-8");
    assert!(FORMATS.iter().all(|format| refused.help.contains(format.part.doc)));
}

#[test]
fn a_parameter_is_refused_where_a_format_has_none_of_that_name() {
    for format in all() {
        let given = GivenParameters::from_iter([("colour".to_owned(), "red".into())]);
        let files = format.example();
        let refused =
            format.read(&format.of_ranks(&files), &given, &QuietWatch).expect_err("no key");
        assert!(refused.to_string().contains("colour"), "{refused}");
    }
}
