//! Every long call passes here: the interpreter is released, Ctrl-C heard, progress passed on.

use base::{Interrupted, Refusal, Watch};
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, mpsc};
use std::time::Duration;

create_exception!(_core, RefusalError, PyValueError, "Input that cannot be used, and the way out.");

/// A refusal as a Python exception with the attributes `param`, `why` and `help`.
pub fn refuse(refusal: Refusal) -> PyErr {
    let error = RefusalError::new_err(refusal.to_string());
    Python::attach(|py| {
        let value = error.value(py);
        for (name, text) in
            [("param", &refusal.param), ("why", &refusal.why), ("help", &refusal.help)]
        {
            let _ = value.setattr(name, text);
        }
    });
    error
}

/// A JSON value as the Python object it stands for.
pub fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (value.to_string(),))
}

/// The parameters of a Python dict as JSON; numpy's numbers and arrays are numbers and lists.
///
/// # Errors
/// `RefusalError` for what JSON has no word for, such as a date or NaN.
pub fn from_python(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let py = value.py();
    let options = PyDict::new(py);
    let default = PyModule::import(py, "operator")?.call_method1("methodcaller", ("tolist",))?;
    options.set_item("default", default)?;
    options.set_item("allow_nan", false)?;
    let dumped = py.import("json")?.call_method("dumps", (value,), Some(&options));
    let bad = |e: &dyn std::fmt::Display| {
        refuse(Refusal::new("", format!("a value is no parameter: {e}"), "numbers, text and lists"))
    };
    let text: String = dumped.map_err(|e| bad(&e.value(py)))?.extract()?;
    serde_json::from_str(&text).map_err(|e| bad(&e))
}

/// Progress of the worker, read by the thread that holds the interpreter.
struct Shared {
    stop: AtomicBool,
    latest: Mutex<(String, u64, u64)>,
}

impl Watch for Shared {
    fn tick(&self, what: &str, done: u64, total: u64) -> Result<(), Interrupted> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Interrupted);
        }
        if let Ok(mut latest) = self.latest.try_lock() {
            if latest.0 != what {
                what.clone_into(&mut latest.0);
            }
            (latest.1, latest.2) = (done, total);
        }
        Ok(())
    }
}

/// Runs `work` on a thread of its own without the interpreter. Meanwhile signals are handled here,
/// so that Ctrl-C stops the work, and `progress(what, done, total)` is called ten times a second.
pub fn enter<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&dyn Watch) -> T + Send,
) -> PyResult<T> {
    let shared = Shared { stop: AtomicBool::new(false), latest: Mutex::new((String::new(), 0, 0)) };
    let shared = &shared;
    let (send, receive) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // the receiver is gone only when the caller was interrupted and wants no result
            let _ = send.send(work(shared));
        });
        let mut receive = receive;
        let mut stopped: Option<PyErr> = None;
        let mut wait = Duration::from_millis(20);
        loop {
            let got;
            (receive, got) = py.detach(move || {
                let got = receive.recv_timeout(wait);
                (receive, got)
            });
            match got {
                Ok(result) => return stopped.map_or(Ok(result), Err),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    let lost = || PyKeyboardInterrupt::new_err("the computation was lost");
                    return Err(stopped.unwrap_or_else(lost));
                }
            }
            wait = Duration::from_millis(100);
            if stopped.is_none() {
                let heard = py.check_signals().and_then(|()| match &progress {
                    None => Ok(()),
                    Some(report) => {
                        let (what, done, total) =
                            shared.latest.lock().map(|l| l.clone()).unwrap_or_default();
                        if what.is_empty() {
                            Ok(())
                        } else {
                            report.call1(py, (what, done, total)).map(drop)
                        }
                    }
                });
                if let Err(error) = heard {
                    shared.stop.store(true, Ordering::Relaxed);
                    stopped = Some(error);
                }
            }
        }
    })
}

/// The exception for work that was interrupted.
pub fn interrupted() -> PyErr {
    PyKeyboardInterrupt::new_err("interrupted")
}
