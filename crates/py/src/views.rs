//! Arrays that the core holds, as numpy arrays on its memory.

use crate::enter::interrupted;
use crate::fault::unless_it_panics;
use numpy::ndarray::{ArrayView, Dim, IntoDimension, Ix};
use numpy::{Element, PyArray, PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::{PyClass, PyTypeInfo};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};

/// Loads numpy, so that what uses it does not meet a Ctrl-C while it loads: that would be a panic.
///
/// # Errors
/// What loading numpy raises, `KeyboardInterrupt` for one.
fn loaded(py: Python<'_>) -> PyResult<()> {
    static LOADED: AtomicBool = AtomicBool::new(false);
    if LOADED.load(Ordering::Relaxed) {
        return Ok(());
    }
    py.import("numpy")?;
    // its version is looked up once more, by code that may be interrupted, too
    let first = || drop(PyArray1::<u8>::from_vec(py, Vec::new()));
    unless_it_panics(AssertUnwindSafe(first)).ok_or_else(interrupted)?;
    LOADED.store(true, Ordering::Relaxed);
    Ok(())
}

/// An array that owns `data`, without a copy.
///
/// # Errors
/// As numpy's import.
pub fn array<T: Element>(py: Python<'_>, data: Vec<T>) -> PyResult<Bound<'_, PyArray1<T>>> {
    loaded(py)?;
    Ok(PyArray1::from_vec(py, data))
}

/// A read-only array of this shape on what `data` finds in `owner`, without a copy. It keeps its
/// owner alive. Numpy refuses to make it writable.
///
/// # Errors
/// `ValueError` when the shape does not fit the data; and as numpy's import.
#[allow(unsafe_code)]
pub fn view<'py, C, T, const N: usize>(
    owner: &Bound<'py, C>,
    data: impl for<'a> FnOnce(&'a C) -> &'a [T],
    shape: [usize; N],
) -> PyResult<Bound<'py, PyArray<T, Dim<[Ix; N]>>>>
where
    C: PyClass<Frozen = pyo3::pyclass::boolean_struct::True> + PyTypeInfo + Sync,
    T: Element,
    [Ix; N]: IntoDimension<Dim = Dim<[Ix; N]>>,
    Dim<[Ix; N]>: numpy::ndarray::Dimension,
{
    loaded(owner.py())?;
    let wrong = |why: numpy::ndarray::ShapeError| PyValueError::new_err(why.to_string());
    let array = ArrayView::from_shape(shape.into_dimension(), data(owner.get())).map_err(wrong)?;
    // SAFETY: the slice is borrowed from the owner for as long as that lives, and the array holds
    // the owner. The class is frozen and hands out no `&mut`, and the classes that come here keep
    // their arrays behind an `Arc` or a `Vec` that nothing replaces: the memory neither moves nor
    // changes. Nothing can write through the array, which is made read-only before anybody has it.
    let array = unsafe { PyArray::borrow_from_array(&array, owner.clone().into_any()) };
    array.readwrite().make_nonwriteable();
    Ok(array)
}
