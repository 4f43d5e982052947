//! Communication patterns: who sends to whom, level by level, among ranks 0 to n - 1.
//!
//! Source: Schneider, Hoefler, Lumsdaine, "ORCS: an oblivious routing congestion simulator",
//! Indiana University, Technical Report 675, 2009, and the patterns of its program.

use base::Refusal;
use base::seed::Stream;

/// One message: the rank that sends, and the rank that receives.
pub type Message = (u32, u32);

/// Most messages that a pattern may send at once.
const MAX_MESSAGES: u64 = 1 << 24;
/// Most dimensions of a grid.
const MAX_DIMENSIONS: u32 = 16;

/// Who sends to whom.
#[derive(Debug, Clone, PartialEq)]
pub enum Pattern {
    /// Nobody sends; a partner for another job.
    Null,
    /// Rank i of the first half sends to rank i of the second half.
    Bisect,
    /// The same, and back.
    BisectSymmetric,
    /// Everybody sends to one other and receives from one, at random.
    Permutation,
    /// Rank i sends to rank i + k, around the end.
    Shift(u32),
    /// One message goes around: in level i rank i sends to the next.
    TokenRing,
    /// A tree of this arity: who has the message sends it to k - 1 more in each level.
    Tree(u32),
    /// In level i every rank sends to the rank 2^i further, around the end.
    Bruck,
    /// In level i the ranks that differ in bit i exchange; ranks beyond the last power of two
    /// receive in one level more.
    RecursiveDoubling,
    /// Everybody sends to everybody else.
    AllToAll,
    /// Everybody sends to rank 0.
    Gather,
    /// Rank 0 sends to everybody.
    Scatter,
    /// Neighbours in a grid that is closed to a torus, with this many dimensions or these sides.
    Stencil(Sides),
    /// Everybody exchanges with this many others of the next ranks.
    Neighbours(u32),
    /// Many send to few.
    Receivers(Receivers),
}

/// The sides of the grid of a stencil.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sides {
    /// As near to a cube as may be, with this many dimensions; the last places can be empty.
    Dimensions(u32),
    /// These sides, first coordinate fastest; they have as many places as there are ranks.
    Given(Vec<u32>),
}

/// Ranks 0 to `count` - 1 receive, the others send to them in turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Receivers {
    /// How many receive.
    pub count: u32,
    /// One sender for each of them only.
    pub one_sender: bool,
    /// Chance that a sender sends to its receiver.
    pub chance: f64,
    /// Chance that a sender that does not send to its receiver is idle; else it sends to another
    /// such sender.
    pub idle: f64,
    /// Senders by rank and not in random order.
    pub linear: bool,
}

/// Names, in the order in which they are listed, the names that ORCS has for them, and arguments.
const NAMES: [(&str, &str, &str); 17] = [
    ("bisect", "bisect", ""),
    ("bisect_symmetric", "bisect_fb_sym", ""),
    ("permutation", "rand", ""),
    ("shift", "shift", "K"),
    ("ring", "ring", ""),
    ("token_ring", "token_ring", ""),
    ("tree", "ntree", "ARITY"),
    ("binomial", "bintree", ""),
    ("bruck", "dissemination", ""),
    ("recursive_doubling", "recdbl", ""),
    ("all_to_all", "all_to_all", ""),
    ("gather", "gather", ""),
    ("scatter", "scatter", ""),
    ("stencil", "neighbor2d", "DIMENSIONS or SIDES, such as 4x4x2"),
    ("neighbours", "neighbor", "K"),
    ("receivers", "recvs_all_src", "N[,CHANCE[,IDLE]][,linear]"),
    ("receivers_one", "recvs_one_src", "N[,CHANCE[,IDLE]][,linear]"),
];

impl Pattern {
    /// The names of all patterns, ours.
    pub fn names() -> Vec<&'static str> {
        NAMES.iter().map(|(name, _, _)| *name).collect()
    }

    /// The pattern `NAME` or `NAME:ARGUMENT` for `ranks` ranks.
    ///
    /// # Errors
    /// When there is no such pattern, its argument does not fit it or the number of ranks, or there
    /// are fewer than two ranks.
    pub fn parse(text: &str, ranks: u32) -> Result<Self, Refusal> {
        let (name, argument) = match text.split_once(':') {
            Some((name, argument)) => (name, Some(argument)),
            None => (text, None),
        };
        if name == "null" && argument.is_none() {
            return Ok(Self::Null);
        }
        let known = |(ours, orcs, _): &&(&str, &str, &str)| name == *ours || name == *orcs;
        let Some((name, _, wanted)) = NAMES.iter().find(known) else {
            let why = format!("there is no '{name}'");
            return Err(Refusal::new(
                "pattern",
                why,
                Self::names().join(", ") + ", null, two_jobs",
            ));
        };
        if ranks < 2 {
            let why = format!("{name} among {ranks} endpoints");
            return Err(Refusal::new("endpoints", why, "a pattern needs at least 2"));
        }
        if let (Some(given), "") = (argument, *wanted) {
            let why = format!("'{given}' for {name}");
            return Err(Refusal::new("pattern_argument", why, format!("{name} takes none")));
        }
        let bad = |help: String| {
            let given = argument.map_or("none".to_owned(), |a| format!("'{a}'"));
            Refusal::new("pattern_argument", format!("{given} for {name}"), help)
        };
        let whole = |least: u32, most: u32, unless: Option<u32>| {
            let number = argument.map_or(unless, |a| a.parse().ok());
            number
                .filter(|n| (least..=most).contains(n))
                .ok_or_else(|| bad(format!("{wanted}: {least} to {most}")))
        };
        let room = (MAX_MESSAGES / u64::from(ranks)).min(u64::from(ranks - 1)).max(1) as u32;
        Ok(match *name {
            "bisect" => Self::Bisect,
            "bisect_symmetric" => Self::BisectSymmetric,
            "permutation" => Self::Permutation,
            "shift" => Self::Shift(whole(1, ranks - 1, Some(1))?),
            "ring" => Self::Shift(1),
            "token_ring" => Self::TokenRing,
            "tree" => Self::Tree(whole(2, ranks, Some(2))?),
            "binomial" => Self::Tree(2),
            "bruck" => Self::Bruck,
            "recursive_doubling" => Self::RecursiveDoubling,
            "all_to_all" if u64::from(ranks) * u64::from(ranks - 1) > MAX_MESSAGES => {
                let most = MAX_MESSAGES.isqrt();
                let why = format!("all_to_all among {ranks} endpoints");
                return Err(Refusal::new("endpoints", why, format!("at most {most}")));
            }
            "all_to_all" => Self::AllToAll,
            "gather" => Self::Gather,
            "scatter" => Self::Scatter,
            "stencil" => Self::Stencil(Sides::parse(argument.unwrap_or("2"), ranks, &bad)?),
            "neighbours" => Self::Neighbours(whole(1, room, None)?),
            _ => Self::Receivers(Receivers::parse(name, argument, ranks, &bad)?),
        })
    }

    /// How many levels it has among `ranks` ranks: messages of one level are sent at once.
    pub fn levels(&self, ranks: u32) -> u32 {
        match self {
            Self::Null => 0,
            Self::TokenRing => ranks,
            Self::Tree(arity) => powers(u64::from(*arity), ranks),
            Self::Bruck => powers(2, ranks),
            Self::RecursiveDoubling => ranks.ilog2() + u32::from(!ranks.is_power_of_two()),
            _ => 1,
        }
    }

    /// No fewer than the messages of any level among `ranks` ranks.
    pub fn most_messages(&self, ranks: u32) -> u64 {
        let each = match self {
            Self::TokenRing => return 1,
            Self::Stencil(grid) => 2 * grid.sides(ranks).len() as u64,
            Self::Neighbours(k) => (*k).into(),
            Self::AllToAll => u64::from(ranks) - 1,
            _ => 1,
        };
        u64::from(ranks) * each
    }

    /// The messages of `level`, below [`Self::levels`]; a rank never sends to itself. `draw` gives
    /// the random choices. O(messages).
    pub fn messages(&self, level: u32, ranks: u32, draw: &mut Stream) -> Vec<Message> {
        let half = ranks / 2;
        let forth = (0..half).map(|i| (i, i + half));
        match self {
            Self::Null => Vec::new(),
            Self::Bisect => forth.collect(),
            Self::BisectSymmetric => forth.flat_map(|(a, b)| [(a, b), (b, a)]).collect(),
            Self::Permutation => permutation(ranks, draw),
            Self::Shift(k) => around(ranks, u64::from(*k)),
            Self::TokenRing => vec![(level, (level + 1) % ranks)],
            Self::Tree(arity) => tree(u64::from(*arity), level, ranks),
            Self::Bruck => around(ranks, 1 << level),
            Self::RecursiveDoubling => recursive_doubling(level, ranks),
            Self::AllToAll => {
                let to = |a| (0..ranks).filter(move |&b| b != a).map(move |b| (a, b));
                (0..ranks).flat_map(to).collect()
            }
            Self::Gather => (1..ranks).map(|i| (i, 0)).collect(),
            Self::Scatter => (1..ranks).map(|i| (0, i)).collect(),
            Self::Stencil(grid) => grid.messages(ranks),
            Self::Neighbours(k) => neighbours(*k, ranks),
            Self::Receivers(how) => how.messages(ranks, draw),
        }
    }
}

/// The least number of factors `base` whose product is at least `ranks`.
fn powers(base: u64, ranks: u32) -> u32 {
    let (mut levels, mut reach) = (0, 1_u64);
    while reach < u64::from(ranks) {
        (levels, reach) = (levels + 1, reach * base);
    }
    levels
}

fn around(ranks: u32, step: u64) -> Vec<Message> {
    let to = |i: u32| ((u64::from(i) + step) % u64::from(ranks)) as u32;
    (0..ranks).map(|i| (i, to(i))).collect()
}

/// A uniformly random permutation that leaves nobody in place: shuffled until one does.
fn permutation(ranks: u32, draw: &mut Stream) -> Vec<Message> {
    let mut to: Vec<u32> = (0..ranks).collect();
    loop {
        draw.shuffle(&mut to);
        if (0..ranks).zip(&to).all(|(a, b)| a != *b) {
            return (0..ranks).zip(to).collect();
        }
    }
}

fn tree(arity: u64, level: u32, ranks: u32) -> Vec<Message> {
    let reach = arity.pow(level);
    let children = |i: u64| (1..arity).map(move |j| (i, i + j * reach));
    let within = |(_, to): &(u64, u64)| *to < u64::from(ranks);
    (0..reach.min(u64::from(ranks)))
        .flat_map(|i| children(i).take_while(within))
        .map(|(from, to)| (from as u32, to as u32))
        .collect()
}

fn recursive_doubling(level: u32, ranks: u32) -> Vec<Message> {
    let power = 1_u32 << ranks.ilog2();
    if level == ranks.ilog2() {
        return (0..ranks - power).map(|i| (i, i + power)).collect();
    }
    let low = (0..power).filter(|i| i & (1 << level) == 0);
    low.flat_map(|i| [(i, i | 1 << level), (i | 1 << level, i)]).collect()
}

/// Each rank in turn is joined to the next ranks that still have room, until it has `k` partners.
fn neighbours(k: u32, ranks: u32) -> Vec<Message> {
    let mut partners: Vec<Vec<u32>> = vec![Vec::new(); ranks as usize];
    for i in 0..ranks {
        for other in i + 1..ranks {
            if partners[i as usize].len() as u32 == k {
                break;
            }
            if (partners[other as usize].len() as u32) < k {
                partners[i as usize].push(other);
                partners[other as usize].push(i);
            }
        }
    }
    let from = (0..ranks).zip(&partners);
    from.flat_map(|(i, to)| to.iter().map(move |&other| (i, other))).collect()
}

impl Sides {
    fn parse(text: &str, ranks: u32, bad: &dyn Fn(String) -> Refusal) -> Result<Self, Refusal> {
        let help = || {
            let short =
                (2..=ranks.isqrt()).rev().find(|side| ranks.is_multiple_of(*side)).unwrap_or(1);
            let long = ranks / short;
            format!("1 to {MAX_DIMENSIONS} dimensions, or sides, such as {long}x{short}")
        };
        let numbers: Option<Vec<u32>> = text.split('x').map(|w| w.parse().ok()).collect();
        let numbers = numbers.ok_or_else(|| bad(help()))?;
        if let [dimensions] = numbers[..] {
            return match dimensions {
                1..=MAX_DIMENSIONS => Ok(Self::Dimensions(dimensions)),
                _ => Err(bad(help())),
            };
        }
        let places =
            numbers.iter().try_fold(1_u64, |product, side| product.checked_mul((*side).into()));
        if places != Some(ranks.into()) || numbers.len() > MAX_DIMENSIONS as usize {
            return Err(bad(help()));
        }
        Ok(Self::Given(numbers))
    }

    /// The sides; each is the least whose power fills what the sides before it have left.
    fn sides(&self, ranks: u32) -> Vec<u32> {
        let dimensions = match self {
            Self::Dimensions(d) => *d,
            Self::Given(sides) => return sides.clone(),
        };
        let mut left = ranks;
        let mut sides = Vec::new();
        for d in (1..=dimensions).rev() {
            let mut side = (f64::from(left).powf(1.0 / f64::from(d)) as u32).max(1);
            while side > 1 && u64::from(side - 1).saturating_pow(d) >= u64::from(left) {
                side -= 1;
            }
            while u64::from(side).saturating_pow(d) < u64::from(left) {
                side += 1;
            }
            sides.push(side);
            left = left.div_ceil(side);
        }
        sides
    }

    /// Every rank to its neighbours in each direction, past empty places, once and never to itself.
    fn messages(&self, ranks: u32) -> Vec<Message> {
        let sides = self.sides(ranks);
        let mut all = Vec::new();
        for rank in 0..ranks {
            let mut to = Vec::with_capacity(2 * sides.len());
            let mut stride = 1_u64;
            for &side in &sides {
                let side = u64::from(side);
                let here = u64::from(rank) / stride % side;
                let at = |x: u64| u64::from(rank) - here * stride + x % side * stride;
                let taken = |x: &u64| at(*x) < u64::from(ranks);
                let ahead = (here + 1..=here + side).find(taken).unwrap_or(here);
                let behind = (1..=side).map(|step| here + side - step).find(taken);
                let behind = behind.unwrap_or(here);
                to.extend([at(ahead) as u32, at(behind) as u32]);
                stride *= side;
            }
            to.sort_unstable();
            to.dedup();
            all.extend(to.into_iter().filter(|&other| other != rank).map(|other| (rank, other)));
        }
        all
    }
}

impl Receivers {
    fn parse(
        name: &str,
        argument: Option<&str>,
        ranks: u32,
        bad: &dyn Fn(String) -> Refusal,
    ) -> Result<Self, Refusal> {
        let most = ranks / 2;
        let help = || bad(format!("N[,CHANCE[,IDLE]][,linear] with N 1 to {most}, chances 0 to 1"));
        let mut words: Vec<&str> = argument.unwrap_or("").split(',').collect();
        let linear = words.last() == Some(&"linear");
        if linear || words.last() == Some(&"rand") {
            words.pop();
        }
        let chance = |at: usize, unless: f64| match words.get(at) {
            None => Ok(unless),
            Some(w) => w.parse().ok().filter(|x| (0.0..=1.0).contains(x)).ok_or_else(help),
        };
        let count = words.first().and_then(|w| w.parse().ok());
        let count = count.filter(|n| (1..=most).contains(n) && words.len() <= 3);
        let one_sender = name == "receivers_one";
        let (chance, idle) = (chance(1, 1.0)?, chance(2, 0.0)?);
        Ok(Self { count: count.ok_or_else(help)?, one_sender, chance, idle, linear })
    }

    fn messages(&self, ranks: u32, draw: &mut Stream) -> Vec<Message> {
        let mut senders: Vec<u32> = (self.count..ranks).collect();
        if !self.linear {
            draw.shuffle(&mut senders);
        }
        if self.one_sender {
            senders.truncate(self.count as usize);
        }
        // 53 random bits make a number from 0 up to, and without, 1
        let mut happens = |chance: f64| (draw.next_u64() >> 11) as f64 / 2_f64.powi(53) < chance;
        let (mut all, mut others) = (Vec::new(), Vec::new());
        for (i, &sender) in (0..).zip(&senders) {
            if happens(self.chance) {
                all.push((sender, i % self.count));
            } else if !happens(self.idle) {
                others.push(sender);
            }
        }
        let next = others.iter().cycle().skip(1);
        all.extend(others.iter().zip(next).map(|(a, b)| (*a, *b)).filter(|(a, b)| a != b));
        all
    }
}
