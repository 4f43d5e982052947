//! Arrays that the core holds, as numpy arrays on its memory.

use numpy::ndarray::{ArrayView, Dim, IntoDimension, Ix};
use numpy::{Element, PyArray, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::{PyClass, PyTypeInfo};

/// A read-only array of this shape on what `data` finds in `owner`, without a copy. It keeps its
/// owner alive. Numpy refuses to make it writable.
///
/// # Errors
/// `ValueError` when the shape does not fit the data.
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
