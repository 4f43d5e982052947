//! Every long call passes here: the interpreter is released, Ctrl-C heard, progress passed on.

use base::Need;
use base::{Interrupted, Refusal, Stop, Watch};
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, mpsc};
use std::time::Duration;

create_exception!(
    flyloom._core,
    RefusalError,
    PyValueError,
    "Input that cannot be used, and the way out."
);

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

/// A small table for notebooks: see `flyloom.support.results.html_table`.
pub fn html(py: Python<'_>, title: &str, fields: &[(&str, String)]) -> PyResult<String> {
    let fields: Vec<(&str, &str)> = fields.iter().map(|(k, v)| (*k, v.as_str())).collect();
    let results = py.import("flyloom.support.results")?;
    results.call_method1("html_table", (title, fields))?.extract()
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
#[derive(Default)]
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

/// The threads that all work runs on, as many as there are processors and memory allows. A process
/// that was forked has none of its parent's, and starts its own.
///
/// # Errors
/// `MemoryError` when not even one can be started.
fn pool(py: Python<'_>) -> PyResult<&'static ThreadPool> {
    static POOL: Mutex<Option<(u32, &'static ThreadPool)>> = Mutex::new(None);
    let us = std::process::id();
    let ours = |known: &Option<(u32, &'static ThreadPool)>| {
        known.filter(|(owner, _)| *owner == us).map(|(_, pool)| pool)
    };
    if let Some(pool) = POOL.lock().ok().and_then(|known| ours(&known)) {
        return Ok(pool);
    }
    let room: usize = machine(py)?.call_method0("threads")?.extract()?;
    let usual = ThreadPoolBuilder::new().build().map_or(1, |pool| pool.current_num_threads());
    let mut count = if room == 0 { usual } else { usual.min(room) };
    let new = loop {
        match ThreadPoolBuilder::new().num_threads(count).build() {
            Ok(pool) => break pool,
            Err(_) if count > 1 => count /= 2,
            Err(why) => return Err(no_thread(&why)),
        }
    };
    let mut known = POOL.lock().map_err(|why| no_thread(&why))?;
    if let Some(pool) = ours(&known) {
        return Ok(pool); // another thread was quicker
    }
    let new: &'static ThreadPool = Box::leak(Box::new(new));
    *known = Some((us, new));
    Ok(new)
}

fn no_thread(why: &dyn std::fmt::Display) -> PyErr {
    PyMemoryError::new_err(format!("no thread can be started: {why}"))
}

fn machine(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    PyModule::import(py, "flyloom.support.machine")
}

/// Refuses work whose `need` this machine cannot meet, and says how long long work takes: see
/// `flyloom.support.machine.afford`. `need` is given the number of threads.
pub fn afford(py: Python<'_>, what: &str, need: impl FnOnce(usize) -> Need) -> PyResult<()> {
    let need = need(pool(py)?.current_num_threads());
    machine(py)?.call_method1("afford", (what, need.bytes, need.seconds)).map(drop)
}

/// Runs `work` on a thread of its own without the interpreter. Meanwhile signals are handled here,
/// so that Ctrl-C stops the work, and `progress(what, done, total)` is called ten times a second.
pub fn enter<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&dyn Watch) -> T + Send,
) -> PyResult<T> {
    entered(py, progress, work, false)
}

/// As [`enter`] for work that has a result also when it is stopped: Ctrl-C gives that.
pub fn enter_to_last<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&dyn Watch) -> T + Send,
) -> PyResult<T> {
    entered(py, progress, work, true)
}

fn entered<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&dyn Watch) -> T + Send,
    keeps: bool,
) -> PyResult<T> {
    let shared = Shared::default();
    let (send, receive) = mpsc::channel();
    pool(py)?.in_place_scope(|scope| {
        scope.spawn(|_| {
            // the receiver is gone only when the caller was interrupted and wants no result
            let _ = send.send(work(&shared));
        });
        attend(py, progress.as_ref(), &shared, receive, true, keeps)
    })
}

/// As [`enter`] for work that hears no watch: after Ctrl-C it is left to itself.
pub fn enter_alone<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (send, receive) = mpsc::channel();
    pool(py)?.spawn(move || {
        // one that breaks off sends nothing, which is noticed here; unheard it ends the process
        let _ = catch_unwind(AssertUnwindSafe(work)).map(|result| send.send(result));
    });
    attend(py, None, &Shared::default(), receive, false, false)
}

/// Waits for the result of work; where a signal stops it, for its end too if it `hears` that, and
/// after Ctrl-C for its result if it `keeps` one.
fn attend<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    shared: &Shared,
    mut receive: mpsc::Receiver<T>,
    hears: bool,
    keeps: bool,
) -> PyResult<T> {
    let mut stopped: Option<PyErr> = None;
    let mut wait = Duration::from_millis(20);
    loop {
        let got;
        (receive, got) = py.detach(move || {
            let got = receive.recv_timeout(wait);
            (receive, got)
        });
        match got {
            Ok(result) if keeps => {
                let ctrl_c = |e: &PyErr| e.is_instance_of::<PyKeyboardInterrupt>(py);
                return stopped.filter(|e| !ctrl_c(e)).map_or(Ok(result), Err);
            }
            Ok(result) => return stopped.map_or(Ok(result), Err),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                let lost = || PyKeyboardInterrupt::new_err("the computation was lost");
                return Err(stopped.unwrap_or_else(lost));
            }
        }
        wait = Duration::from_millis(100);
        if stopped.is_none() {
            let heard = py.check_signals().and_then(|()| shared.report(py, progress));
            if let Err(error) = heard {
                shared.stop.store(true, Ordering::Relaxed);
                if !hears {
                    return Err(error);
                }
                stopped = Some(error);
            }
        }
    }
}

impl Shared {
    fn report(&self, py: Python<'_>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
        let Some(progress) = progress else { return Ok(()) };
        let (what, done, total) = self.latest.lock().map(|l| l.clone()).unwrap_or_default();
        if what.is_empty() { Ok(()) } else { progress.call1(py, (what, done, total)).map(drop) }
    }
}

/// The exception for work that was interrupted.
pub fn interrupted() -> PyErr {
    PyKeyboardInterrupt::new_err("interrupted")
}

/// The exception for work that ended without a result.
pub fn stopped(why: Stop) -> PyErr {
    match why {
        Stop::Refused(refusal) => refuse(refusal),
        Stop::Interrupted(_) => interrupted(),
    }
}

/// What `work` finds, as a Python value.
pub fn run(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&dyn Watch) -> Result<Value, Stop> + Send,
) -> PyResult<Bound<'_, PyAny>> {
    to_python(py, &enter(py, progress, work)?.map_err(stopped)?)
}
