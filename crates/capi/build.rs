//! The library for C goes without what debuggers read, which would be most of it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-S");
}
