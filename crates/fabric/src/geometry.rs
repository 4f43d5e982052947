//! What the coordinates, groups and levels of switches mean: declared by the family.

/// The links within one row of a grid, whose switches differ in one coordinate alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowLinks {
    /// Each with the next, the last with the first.
    Ring,
    /// Each with the next.
    Line,
    /// Each with each.
    Complete,
    /// By a rule that is none of these, or with links beside those of a grid.
    Other,
}

/// The form of a plane: how its switches stand to one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PlaneForm {
    /// Switches of one group belong together.
    #[default]
    Groups,
    /// Groups are numbers without such a meaning.
    Free,
    /// A grid by coordinates.
    Grid(RowLinks),
    /// Levels of a tree, groups being its pods.
    Levels,
    /// Two halves of columns, the coordinates being half, column and row; columns of one number
    /// belong together.
    Columns,
}

/// What a family declares of its switches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Geometry {
    /// How the switches of a plane stand to one another.
    pub form: PlaneForm,
    /// How many leading coordinates number the planes.
    pub planes: usize,
}

impl Geometry {
    /// A network of one plane, or whose planes have no coordinates.
    pub const fn of(form: PlaneForm) -> Self {
        Self { form, planes: 0 }
    }

    /// Several such networks, numbered by one coordinate before theirs.
    #[must_use]
    pub const fn in_planes(self) -> Self {
        Self { planes: self.planes + 1, ..self }
    }
}
