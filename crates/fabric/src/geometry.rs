//! The meaning of the coordinates, groups and levels of switches, as a family declares it.

/// The links within one row of a grid; the switches of a row differ in a single coordinate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GridRowLinks {
    /// Each switch is linked to the next, and the last to the first.
    Ring,
    /// Each switch is linked to the next.
    Line,
    /// Each switch is linked to each other one.
    Complete,
    /// The links follow another rule, or there are links beside those of a grid.
    Other,
}

/// The form of a plane: the meaning of the groups, levels and coordinates of its switches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PlaneStructure {
    /// Switches of one group belong together.
    #[default]
    Groups,
    /// Group numbers have no meaning: switches of one group need not belong together.
    Free,
    /// The switches form a grid by their coordinates.
    Grid(GridRowLinks),
    /// The switches form levels of a tree, and groups are its pods.
    Levels,
    /// The coordinates are half, column and row. The columns of both halves that have the same
    /// number belong together.
    Columns,
}

/// The meaning that a family declares for the coordinates, groups and levels of its switches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NetworkGeometry {
    /// The meaning within each plane.
    pub form: PlaneStructure,
    /// The number of leading coordinates that number the planes.
    pub planes: usize,
}

impl NetworkGeometry {
    /// The geometry of a network of one plane, or of planes that have no coordinate.
    pub const fn of(form: PlaneStructure) -> Self {
        Self { form, planes: 0 }
    }

    /// The geometry of a network of several planes that each have this geometry: one more
    /// coordinate, before the others, numbers the planes.
    #[must_use]
    pub const fn in_planes(self) -> Self {
        Self { planes: self.planes + 1, ..self }
    }
}
