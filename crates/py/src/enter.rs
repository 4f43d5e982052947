//! Every long call passes here: the interpreter is released, Ctrl-C heard, progress passed on.

use crate::fault;
use base::ResourceNeed;
use base::{ComputationError, Interrupted, ProgressWatch, Refusal};
use fabric::network::NetworkRecipe;
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde_json::{Map, Value};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

create_exception!(
    flyloom._core,
    RefusalError,
    PyValueError,
    "Input that cannot be used, and what would be valid."
);

/// The map that a JSON object is; an empty one for all else.
pub fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

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

/// A small table for notebooks: see `flyloom.support.displays.values_table`.
pub fn html(py: Python<'_>, title: &str, fields: &[(&str, String)]) -> PyResult<String> {
    let fields: Vec<(&str, &str)> = fields.iter().map(|(k, v)| (*k, v.as_str())).collect();
    let displays = py.import("flyloom.support.displays")?;
    displays.call_method1("values_table", (fields, title))?.extract()
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
    let json = py.import("json")?;
    let dumped = json.call_method("dumps", (value,), Some(&options));
    let bad = |e: &dyn std::fmt::Display| {
        refuse(Refusal::new("", format!("a value is no parameter: {e}"), "numbers, text and lists"))
    };
    if dumped.is_err()
        && value.is_instance_of::<PyDict>()
        && let Some(refused) =
            no_parameter("", value, &|one| json.call_method("dumps", (one,), Some(&options)).err())
    {
        return Err(refuse(refused));
    }
    let text: String = dumped.map_err(|e| bad(&e.value(py)))?.extract()?;
    serde_json::from_str(&text).map_err(|e| bad(&e))
}

/// The first value inside `value` that JSON cannot express; `name` is the name of `value`, and
/// `fault` gives the reason why a value cannot be expressed.
fn no_parameter(
    name: &str,
    value: &Bound<'_, PyAny>,
    fault: &dyn Fn(&Bound<'_, PyAny>) -> Option<PyErr>,
) -> Option<Refusal> {
    let why = fault(value)?;
    if let Ok(table) = value.cast::<PyDict>() {
        let inner = table.iter().find_map(|(key, value)| {
            let key: String = key.extract().ok()?;
            let part = match name.chars().last() {
                None => "",
                Some(c) if c.is_ascii_digit() => ": ", // an entry of a list
                Some(_) => ".",
            };
            no_parameter(&format!("{name}{part}{key}"), &value, fault)
        });
        return inner.or_else(|| Some(no_word(name, value, &why)));
    }
    if let Ok(list) = value.cast::<PyList>()
        && list.iter().any(|entry| entry.is_instance_of::<PyDict>())
    {
        let mut entries = list.iter().enumerate();
        return entries
            .find_map(|(i, entry)| no_parameter(&format!("{name} {}", i + 1), &entry, fault));
    }
    Some(no_word(name, value, &why))
}

/// The refusal of a value that JSON cannot express.
fn no_word(name: &str, value: &Bound<'_, PyAny>, why: &PyErr) -> Refusal {
    let shown = value.str().map_or_else(|_| "a value".to_owned(), |text| text.to_string());
    let finite = |item: &Bound<'_, PyAny>| item.extract().is_ok_and(f64::is_finite);
    if value.extract::<f64>().is_ok_and(|number| !number.is_finite()) {
        return Refusal::new(name, format!("{shown} is no finite number"), "a finite number");
    }
    if let Ok(list) = value.cast::<PyList>()
        && let Some(item) = list.iter().find(|i| i.extract::<f64>().is_ok() && !finite(i))
    {
        let why = format!(
            "{} in a list is no finite number",
            item.str().map_or_else(|_| shown, |t| t.to_string())
        );
        return Refusal::new(name, why, "finite numbers");
    }
    let py = value.py();
    let why = format!("{shown} is no parameter: {}", why.value(py));
    Refusal::new(name, why, "finite numbers, text and lists")
}

/// Progress of the worker, read by the thread that holds the interpreter.
#[derive(Default)]
struct SharedTaskProgress {
    stop: AtomicBool,
    latest: Mutex<(String, u64, u64)>,
}

impl ProgressWatch for SharedTaskProgress {
    fn tick(&self, what: &str, done: u64, total: u64) -> Result<(), Interrupted> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Interrupted);
        }
        if IS_PLANTED.load(Ordering::Relaxed) {
            meet_planted(what);
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

/// The fault that a test has planted, in work of a given name at the n-th report of progress. The
/// flag saves all other work a look at it.
static PLANTED: Mutex<Option<InjectedFault>> = Mutex::new(None);
static IS_PLANTED: AtomicBool = AtomicBool::new(false);

/// A fault that tests plant, to see how it ends.
struct InjectedFault {
    what: String,
    /// The number of reports of progress that pass before it.
    left: u64,
    /// Whether another thread panics, and the one that reports progress never ends.
    stuck: bool,
}

fn planted() -> MutexGuard<'static, Option<InjectedFault>> {
    PLANTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// For tests of what happens then: the thread that reports the progress of work named `what` for
/// the n-th time (from 0 on) panics, once; or where it is `stuck` another panics, and this one
/// never ends.
#[pyfunction]
#[pyo3(signature = (what, n=0, stuck=false))]
pub fn plant_fault(what: String, n: u64, stuck: bool) {
    *planted() = Some(InjectedFault { what, left: n, stuck });
    IS_PLANTED.store(true, Ordering::Relaxed);
}

/// Causes the planted fault if this report of progress is the one, and removes it.
fn meet_planted(what: &str) {
    let mut planted = planted();
    let Some(here) = planted.as_mut().filter(|here| here.what == what) else { return };
    if here.left > 0 {
        here.left -= 1;
        return;
    }
    let stuck = here.stuck;
    *planted = None;
    IS_PLANTED.store(false, Ordering::Relaxed);
    drop(planted);
    assert!(stuck, "planted in {what}");
    let words = format!("planted in {what}");
    // the result is not needed: the panic itself has been noticed
    let _ = thread::spawn(move || panic!("{words}")).join();
    loop {
        thread::park();
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
pub fn afford(
    py: Python<'_>,
    what: &str,
    need: impl FnOnce(usize) -> ResourceNeed,
) -> PyResult<()> {
    let need = need(pool(py)?.current_num_threads());
    machine(py)?.call_method1("afford", (what, need.bytes, need.seconds)).map(drop)
}

/// Memory that may be taken yet, bytes: see `flyloom.support.machine.free`.
pub fn room_bytes(py: Python<'_>) -> PyResult<f64> {
    let (bytes, _): (f64, String) = machine(py)?.call_method0("free")?.extract()?;
    Ok(bytes)
}

/// Refuses the network of `recipe`, which is not built yet, where this machine cannot do what it is
/// built for: see `flyloom.support.machine.built_for`.
pub fn afford_later(py: Python<'_>, recipe: &NetworkRecipe) -> PyResult<()> {
    let params = to_python(py, &Value::Object(recipe.params.clone()))?;
    let given = (recipe.to_string(), &recipe.family, params);
    machine(py)?.call_method1("afford_later", given).map(drop)
}

/// Runs `work` on a thread of its own without the interpreter. Meanwhile signals are handled here,
/// so that Ctrl-C stops the work, and `progress(what, done, total)` is called ten times a second.
pub fn enter<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&dyn ProgressWatch) -> T + Send,
) -> PyResult<T> {
    entered(py, progress, work, false)
}

/// As [`enter`] for work that has a result also when it is stopped: Ctrl-C gives that.
pub fn enter_to_last<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&dyn ProgressWatch) -> T + Send,
) -> PyResult<T> {
    entered(py, progress, work, true)
}

fn entered<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&dyn ProgressWatch) -> T + Send,
    keeps: bool,
) -> PyResult<T> {
    let shared = SharedTaskProgress::default();
    let (send, receive) = mpsc::channel();
    let before = fault::count();
    pool(py)?.in_place_scope(|scope| {
        scope.spawn(|_| {
            let done = catch_unwind(AssertUnwindSafe(|| work(&shared)));
            // the receiver is gone only when the caller was interrupted and wants no result
            let _ = send.send(done);
        });
        attend(
            py,
            progress.as_ref(),
            &shared,
            receive,
            InterruptionRules { hears: true, keeps, before },
        )
    })
}

/// As [`enter`] for work that no watch can stop: after Ctrl-C it goes on by itself.
pub fn enter_alone<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (send, receive) = mpsc::channel();
    let before = fault::count();
    pool(py)?.spawn(move || {
        let _ = send.send(catch_unwind(AssertUnwindSafe(work)));
    });
    let how = InterruptionRules { hears: false, keeps: false, before };
    attend(py, None, &SharedTaskProgress::default(), receive, how)
}

/// Turns of a tenth of a second in which work may end in order after a fault.
const GRACE: u32 = 4;

/// The rules by which the end of work is waited for.
#[derive(Clone, Copy)]
struct InterruptionRules {
    /// Whether a watch can stop the work; the result of the work then says why it stopped.
    hears: bool,
    /// Whether the work has a result even after Ctrl-C.
    keeps: bool,
    /// The number of faults of this process before the work began.
    before: u64,
}

/// Waits for the result of work. A signal stops the work: if it `hears` the watch, its end is
/// waited for, and if it `keeps` a result, that is returned after Ctrl-C.
///
/// A thread that panics anywhere in this process stops it as well: whatever it found meanwhile is
/// not to be believed. The command line ends at once where the rest takes long to end.
fn attend<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    shared: &SharedTaskProgress,
    mut receive: mpsc::Receiver<thread::Result<T>>,
    how: InterruptionRules,
) -> PyResult<T> {
    let mut stopped: Option<PyErr> = None;
    let mut turns_with_fault = 0;
    let mut wait = Duration::from_millis(20);
    loop {
        let got;
        (receive, got) = py.detach(move || {
            let got = receive.recv_timeout(wait);
            (receive, got)
        });
        let words = fault::since(how.before);
        match (got, &words) {
            (Ok(Err(payload)), None) => return Err(fault::error(fault::words_of(&*payload))),
            (Ok(_), Some(words)) => return Err(fault::error(words)),
            (Ok(Ok(result)), None) if how.keeps => {
                let ctrl_c = |e: &PyErr| e.is_instance_of::<PyKeyboardInterrupt>(py);
                return stopped.filter(|e| !ctrl_c(e)).map_or(Ok(result), Err);
            }
            (Ok(Ok(result)), None) => return stopped.map_or(Ok(result), Err),
            (Err(mpsc::RecvTimeoutError::Disconnected), _) => {
                return Err(fault::error(words.as_deref().unwrap_or("a computation was lost")));
            }
            (Err(mpsc::RecvTimeoutError::Timeout), _) => {}
        }
        wait = Duration::from_millis(100);
        if let Some(words) = words {
            shared.stop.store(true, Ordering::Relaxed);
            if !how.hears {
                return Err(fault::error(&words));
            }
            turns_with_fault += 1;
            if turns_with_fault > GRACE {
                let ending = PyModule::import(py, "flyloom.support.ending")?;
                ending.call_method1("break_off", (fault::line(&words),))?;
            }
        }
        if stopped.is_none() {
            let heard = py.check_signals().and_then(|()| shared.report(py, progress));
            if let Err(error) = heard {
                shared.stop.store(true, Ordering::Relaxed);
                if !how.hears {
                    return Err(error);
                }
                stopped = Some(error);
            }
        }
    }
}

impl SharedTaskProgress {
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
pub fn stopped(why: ComputationError) -> PyErr {
    match why {
        ComputationError::Refused(refusal) => refuse(refusal),
        ComputationError::Interrupted(_) => interrupted(),
    }
}

/// What `work` finds, as a Python value.
pub fn run(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&dyn ProgressWatch) -> Result<Value, ComputationError> + Send,
) -> PyResult<Bound<'_, PyAny>> {
    to_python(py, &enter(py, progress, work)?.map_err(stopped)?)
}
