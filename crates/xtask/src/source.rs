//! Facts about Rust source for the tools: which types implement a trait, which parts of `std` are
//! named.

use syn::visit::{self, Visit};
use syn::{Attribute, File, Item, ItemImpl, Meta, Path, Type, UseTree, spanned::Spanned};

/// Parses a text as Rust.
///
/// # Errors
/// Where it is not Rust, with the line.
pub(crate) fn parse(text: &str) -> Result<File, String> {
    syn::parse_file(text).map_err(|e| format!("line {}: {e}", e.span().start().line))
}

/// The types `X` of every `impl [path::]NAME for X` outside tests, in order.
pub(crate) fn impls_of(file: &File, name: &str) -> Vec<String> {
    let mut found = TraitImplVisitor { name, types: Vec::new() };
    found.visit_file(file);
    found.types
}

/// Whether a file has a constant of that name, outside of functions and modules.
pub(crate) fn has_const(file: &File, name: &str) -> bool {
    file.items.iter().any(|item| matches!(item, Item::Const(it) if it.ident == name))
}

/// The names of the constants of type `kind`, outside of functions and modules, in order.
pub(crate) fn consts_of(file: &File, kind: &str) -> Vec<String> {
    let named = |item: &Item| match item {
        Item::Const(it) => match &*it.ty {
            Type::Path(of) if of.path.is_ident(kind) => Some(it.ident.to_string()),
            _ => None,
        },
        _ => None,
    };
    file.items.iter().filter_map(named).collect()
}

/// The modules of `std` that code outside tests names, each with its line, in order.
pub(crate) fn std_modules(file: &File) -> Vec<(usize, String)> {
    let mut found = StdModuleVisitor(Vec::new());
    found.visit_file(file);
    found.0
}

/// A visitor of a file that collects the types which implement a trait.
struct TraitImplVisitor<'a> {
    name: &'a str,
    types: Vec<String>,
}

impl<'ast> Visit<'ast> for TraitImplVisitor<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(item) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        let of = item.trait_.as_ref().and_then(|(path, _)| path.segments.last());
        if let (Some(of), Type::Path(who)) = (of, &*item.self_ty)
            && of.ident == self.name
        {
            self.types.extend(who.path.segments.last().map(|s| s.ident.to_string()));
        }
    }
}

/// A visitor of a file that collects the modules of `std` that it names.
struct StdModuleVisitor(Vec<(usize, String)>);

impl<'ast> Visit<'ast> for StdModuleVisitor {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(item) {
            visit::visit_item(self, item);
        }
    }

    fn visit_path(&mut self, path: &'ast Path) {
        let mut words = path.segments.iter();
        if let (Some(first), Some(module)) = (words.next(), words.next())
            && first.ident == "std"
        {
            self.0.push((module.span().start().line, module.ident.to_string()));
        }
        visit::visit_path(self, path);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if let UseTree::Path(path) = &item.tree
            && path.ident == "std"
        {
            self.used(&path.tree);
        }
    }
}

impl StdModuleVisitor {
    fn used(&mut self, tree: &UseTree) {
        let name = match tree {
            UseTree::Path(path) => &path.ident,
            UseTree::Name(name) => &name.ident,
            UseTree::Rename(name) => &name.ident,
            UseTree::Group(group) => return group.items.iter().for_each(|t| self.used(t)),
            UseTree::Glob(_) => return,
        };
        self.0.push((name.span().start().line, name.to_string()));
    }
}

/// Whether an item carries `#[cfg(test)]`.
pub(crate) fn is_test(item: &Item) -> bool {
    let attributes: &[Attribute] = match item {
        Item::Const(i) => &i.attrs,
        Item::Fn(i) => &i.attrs,
        Item::Impl(i) => &i.attrs,
        Item::Mod(i) => &i.attrs,
        Item::Static(i) => &i.attrs,
        Item::Struct(i) => &i.attrs,
        Item::Use(i) => &i.attrs,
        _ => &[],
    };
    attributes.iter().any(|a| match &a.meta {
        Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impls_are_found_outside_tests_only() {
        let text = "// impl Family for Comment {}\nimpl Family for Torus {\n}\n\
                    impl super::Family for Mesh {}\nimpl Other for No {}\n\
                    impl Familiar for No {}\nimpl No {}\nmod more { impl Family for Deep {} }\n\
                    #[cfg(test)]\nmod t {\n    impl Family for Fake {}\n}\n";
        let file = parse(text).expect("Rust");
        assert_eq!(impls_of(&file, "Family"), ["Torus", "Mesh", "Deep"]);
    }

    #[test]
    fn constants_are_found_by_their_type() {
        let text = "const A: Row = Row {};\npub(crate) const B: Row = A;\nconst C: &Row = &A;\n\
                    const D: u32 = 1;\nstatic E: Row = A;\nmod tests { const F: Row = A; }\n";
        assert_eq!(consts_of(&parse(text).expect("Rust"), "Row"), ["A", "B"]);
    }

    #[test]
    fn modules_of_std_are_found_outside_tests_comments_and_strings() {
        let text = "// std::fs\nuse std::{fmt, fs as files, env::args};\n\
                    fn f() { std::time::Instant::now(); \"std::net\"; }\n\
                    #[cfg(test)]\nmod t { use std::process; }\n#[cfg(test)]\nuse std::io;\n";
        let found = std_modules(&parse(text).expect("Rust"));
        let names: Vec<_> = found.iter().map(|(line, name)| (*line, name.as_str())).collect();
        assert_eq!(names, [(2, "fmt"), (2, "fs"), (2, "env"), (3, "time")]);
    }

    #[test]
    fn what_is_no_rust_is_refused_with_its_line() {
        assert!(parse("fn f() {}\nfn g( {}\n").is_err_and(|e| e.starts_with("line 2: ")));
    }
}
