//! Networks as files that are not a fabric's: edge lists, `GraphML` and flyloom's own JSON.
