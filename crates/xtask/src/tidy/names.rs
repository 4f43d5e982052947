//! What a Rust file defines, imports and names, outside of tests.
//!
//! Paths in the bodies of macros count too: every word between their brackets is looked at. What a
//! macro expands to is not seen, nor which type the method of a call belongs to.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Item, Meta, UseTree};

use crate::source::is_test;

/// A path of names, as it is written in a file outside of its inline modules.
pub(super) type NamePath = Vec<String>;

/// The names that a file uses and defines, outside of tests.
#[derive(Default)]
pub(super) struct SourceFileNames {
    /// Paths that its code names.
    pub(super) named: BTreeSet<NamePath>,
    /// Every `use`: the name here, and the path of what it is; a glob has the name `*`.
    pub(super) uses: Vec<(String, NamePath)>,
    /// The items that it defines, those of its inline modules among them.
    pub(super) defined: BTreeSet<String>,
    /// Modules of other files that are compiled for tests alone.
    pub(super) test_modules: BTreeSet<String>,
    /// Files beside this one that are such modules.
    pub(super) test_files: BTreeSet<String>,
    /// The inline modules that are being read.
    inside: Vec<String>,
}

impl SourceFileNames {
    /// The names of a file.
    pub(super) fn of(file: &syn::File) -> Self {
        let mut names = Self::default();
        names.visit_file(file);
        names
    }

    /// The path of an import, `None` where the file imports nothing of that name.
    pub(super) fn import(&self, name: &str) -> Option<&NamePath> {
        self.uses.iter().find(|(here, _)| here == name).map(|(_, path)| path)
    }

    /// The modules and enums that it imports whole.
    pub(super) fn globs(&self) -> impl Iterator<Item = &NamePath> {
        self.uses.iter().filter(|(here, _)| here == "*").map(|(_, path)| path)
    }

    /// A path that is written within inline modules, as it would be outside of them.
    fn outside(&self, mut path: NamePath) -> NamePath {
        if self.inside.is_empty() || path.first().is_some_and(|word| word == "crate") {
            return path;
        }
        let mut within = self.inside.clone();
        let leading = path.iter().take_while(|word| *word == "super" || *word == "self").count();
        for word in path.drain(..leading).collect::<Vec<_>>() {
            if word == "super" && within.pop().is_none() {
                within.insert(0, word);
                break;
            }
        }
        within.into_iter().chain(path).collect()
    }

    fn name(&mut self, path: NamePath) {
        let path = self.outside(path);
        self.named.insert(path);
    }

    fn used(&mut self, tree: &UseTree, before: &[String]) {
        let joined = |name: &syn::Ident| join(before, &name.to_string());
        match tree {
            UseTree::Path(path) => self.used(&path.tree, &joined(&path.ident)),
            UseTree::Name(name) if name.ident == "self" => {
                let here = before.last().cloned().unwrap_or_default();
                self.import_as(here, before.to_vec());
            }
            UseTree::Name(name) => self.import_as(name.ident.to_string(), joined(&name.ident)),
            UseTree::Rename(name) => self.import_as(name.rename.to_string(), joined(&name.ident)),
            UseTree::Glob(_) => self.import_as("*".to_owned(), before.to_vec()),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.used(tree, before)),
        }
    }

    fn import_as(&mut self, name: String, path: NamePath) {
        let path = self.outside(path);
        self.uses.push((name, path));
    }

    /// Names every path among the tokens of a macro, or of an attribute.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path = NamePath::new();
        let (mut colons, mut after_dot) = (0, false);
        for token in tokens {
            match &token {
                TokenTree::Ident(word) => {
                    if colons != 2 {
                        self.token_path(std::mem::take(&mut path), false);
                    }
                    if !after_dot {
                        path.push(word.to_string());
                    }
                    (colons, after_dot) = (0, false);
                }
                TokenTree::Punct(sign) if sign.as_char() == ':' => colons += 1,
                TokenTree::Punct(sign) => {
                    self.token_path(std::mem::take(&mut path), false);
                    (colons, after_dot) = (0, sign.as_char() == '.');
                }
                TokenTree::Group(group) => {
                    self.token_path(std::mem::take(&mut path), true);
                    (colons, after_dot) = (0, false);
                    self.tokens(group.stream());
                }
                TokenTree::Literal(_) => {
                    self.token_path(std::mem::take(&mut path), false);
                    (colons, after_dot) = (0, false);
                }
            }
        }
        self.token_path(path, false);
    }

    /// A word alone is an item if it is called or begins with a capital; else it may be anything.
    fn token_path(&mut self, path: NamePath, is_called: bool) {
        let is_item = |word: &String| is_called || word.starts_with(char::is_uppercase);
        if path.len() > 1 || path.first().is_some_and(is_item) {
            self.name(path);
        }
    }

    /// The test module of an item without content: by its name, or by the file that it has.
    fn test_module(&mut self, module: &syn::ItemMod) {
        match module.attrs.iter().find_map(file_of) {
            Some(file) => self.test_files.insert(file),
            None => self.test_modules.insert(module.ident.to_string()),
        };
    }
}

/// The file that an attribute `#[path = "..."]` names; `None` for other attributes.
fn file_of(attribute: &Attribute) -> Option<String> {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

fn join(path: &[String], name: &str) -> NamePath {
    path.iter().cloned().chain([name.to_owned()]).collect()
}

fn words(path: &syn::Path) -> NamePath {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

/// The name of an item that others can import.
fn name_of(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(i) => &i.ident,
        Item::Enum(i) => &i.ident,
        Item::Fn(i) => &i.sig.ident,
        Item::Static(i) => &i.ident,
        Item::Struct(i) => &i.ident,
        Item::Trait(i) => &i.ident,
        Item::Type(i) => &i.ident,
        Item::Union(i) => &i.ident,
        _ => return None,
    };
    Some(name.to_string())
}

impl<'ast> Visit<'ast> for SourceFileNames {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Mod(module) if is_test(item) && module.content.is_none() => {
                self.test_module(module);
            }
            _ if is_test(item) => {}
            Item::Mod(module) if module.content.is_some() => {
                self.inside.push(module.ident.to_string());
                visit::visit_item(self, item);
                self.inside.pop();
            }
            _ => {
                self.defined.extend(name_of(item));
                visit::visit_item(self, item);
            }
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let before = self.uses.len();
        self.used(&item.tree, &[]);
        if matches!(item.vis, syn::Visibility::Inherited) {
            // the file needs what it imports for itself; what it re-exports is needed where that is
            // named
            let needed: Vec<NamePath> =
                self.uses[before..].iter().map(|(_, path)| path.clone()).collect();
            self.named.extend(needed);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let words = words(path);
        if words.len() > 1 || words[0].starts_with(char::is_uppercase) {
            self.name(words);
        }
        visit::visit_path(self, path);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let Expr::Path(called) = &*call.func {
            self.name(words(&called.path));
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.tokens(call.tokens.clone());
        visit::visit_macro(self, call);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let Meta::List(list) = &attribute.meta {
            self.tokens(list.tokens.clone());
        }
    }

    /// `pub(in path)` names who may see an item, not what the item needs.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}
