//! Selection of the engine for a setup: by the size of its routers and the type of its guide.

use super::build::{FlitEngineInputs, FlitSimulationEngine, RouterEngine, is_plain};
use super::context::ANY;
use crate::booksim::routing::AnynetRouting;
use base::Refusal;
use paths::guide::RoutingGuide;
use paths::select::DetourGuide;

/// The engine for this setup that has the smallest arrays in which its routers fit.
///
/// # Errors
/// When the router does not fit the network, or a flit's word has too few bits for its fields.
pub fn engine(setup: FlitEngineInputs<'_>) -> Result<Box<dyn FlitSimulationEngine + '_>, Refusal> {
    setup.router.check(setup.wiring)?;
    if is_plain(setup)
        && setup.classes.len() == 1
        && setup.assignment.is_none()
        && !setup.age_from_staging
        && let Some(made) = compiled_for_guide(setup)
    {
        return made;
    }
    let guide = setup.guide;
    Ok(match size(setup) {
        (..=64, ..=16) => Box::new(RouterEngine::<_, 64, 1, 16, ANY>::new(setup, guide)?),
        (..=256, ..=64) => Box::new(RouterEngine::<_, 256, 4, 64, ANY>::new(setup, guide)?),
        (..=1024, ..=256) => Box::new(RouterEngine::<_, 1024, 16, 256, ANY>::new(setup, guide)?),
        _ => Box::new(RouterEngine::<_, 4096, 64, 1024, ANY>::new(setup, guide)?),
    })
}

/// The engine that is compiled for the type of the guide, if there is one: its routers call the
/// guide directly. The result is the same as that of the other engines.
fn compiled_for_guide<'a>(
    setup: FlitEngineInputs<'a>,
) -> Option<Result<Box<dyn FlitSimulationEngine + 'a>, Refusal>> {
    let guide = setup.guide.itself()?;
    if let Some(detours) = guide.downcast_ref::<DetourGuide>() {
        return engine_of(detours, setup);
    }
    guide.downcast_ref::<AnynetRouting>().and_then(|anynet| engine_of(anynet, setup))
}

/// The engine for `guide`, which is the setup's guide, if its routers are plain ones and none is
/// very large.
fn engine_of<'a, G: RoutingGuide>(
    guide: &'a G,
    setup: FlitEngineInputs<'a>,
) -> Option<Result<Box<dyn FlitSimulationEngine + 'a>, Refusal>> {
    match setup.router.stride_bits() {
        2 => sized::<G, 2>(guide, setup),
        _ => None,
    }
}

/// The engine for plain routers with `1 << S` lanes a port, if one is compiled for the size.
fn sized<'a, G: RoutingGuide, const S: u32>(
    guide: &'a G,
    setup: FlitEngineInputs<'a>,
) -> Option<Result<Box<dyn FlitSimulationEngine + 'a>, Refusal>> {
    fn boxed<'a>(
        made: Result<impl FlitSimulationEngine + 'a, Refusal>,
    ) -> Result<Box<dyn FlitSimulationEngine + 'a>, Refusal> {
        made.map(|machine| Box::new(machine) as Box<dyn FlitSimulationEngine>)
    }
    Some(match size(setup) {
        (..=64, ..=16) => boxed(RouterEngine::<_, 64, 1, 16, S>::new(setup, guide)),
        (..=256, ..=64) => boxed(RouterEngine::<_, 256, 4, 64, S>::new(setup, guide)),
        (..=512, ..=128) => boxed(RouterEngine::<_, 512, 8, 128, S>::new(setup, guide)),
        _ => return None,
    })
}

/// The largest number of lanes and of ports of a router.
fn size(setup: FlitEngineInputs<'_>) -> (usize, usize) {
    let ports = setup.wiring.most_ports();
    (ports << setup.router.stride_bits(), ports)
}
