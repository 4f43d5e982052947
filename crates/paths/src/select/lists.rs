//! Lists of ports by number, equal ones kept once.

/// Lists of ports, one behind the other: neither a list nor its number is an allocation of its own.
#[derive(Debug, Clone, Default)]
pub(super) struct Lists {
    ports: Vec<u16>,
    /// Where each list is in `ports`: its begin above 16 bits of its length.
    spans: Vec<u64>,
    /// Numbers of lists by the hash of what they hold: a power of two of places, half of them free.
    slots: Vec<u32>,
}

/// No list.
const FREE: u32 = u32::MAX;

impl Lists {
    /// How many different lists there are.
    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    /// All lists, by number.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u16]> {
        self.spans.iter().map(|span| self.at(*span))
    }

    /// Where the lists are, each a begin above 16 bits of length; and their ports.
    pub(super) fn into_parts(self) -> (Vec<u64>, Vec<u16>) {
        (self.spans, self.ports)
    }

    /// The number of a list of at most 65535 ports: that of an equal one, else the next. O(list).
    pub(super) fn number(&mut self, list: &[u16]) -> u32 {
        if self.spans.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let mut place = hash(list) & (self.slots.len() - 1);
        loop {
            match self.slots[place] {
                FREE => break,
                number if self.at(self.spans[number as usize]) == list => return number,
                _ => place = (place + 1) & (self.slots.len() - 1),
            }
        }
        let number = self.spans.len() as u32;
        self.slots[place] = number;
        self.spans.push((self.ports.len() as u64) << 16 | list.len() as u64);
        self.ports.extend_from_slice(list);
        number
    }

    fn at(&self, span: u64) -> &[u16] {
        let begin = (span >> 16) as usize;
        &self.ports[begin..begin + (span & 0xffff) as usize]
    }

    /// Twice as many places.
    fn grow(&mut self) {
        let count = (self.slots.len() * 2).max(64);
        let mut slots = vec![FREE; count];
        for (number, list) in (0..).zip(self.iter()) {
            let mut place = hash(list) & (count - 1);
            while slots[place] != FREE {
                place = (place + 1) & (count - 1);
            }
            slots[place] = number;
        }
        self.slots = slots;
    }
}

/// A number that lists which differ seldom share: FNV-1a over ports, its upper half.
fn hash(list: &[u16]) -> usize {
    let of = |hash: u64, port: &u16| (hash ^ u64::from(*port)).wrapping_mul(0x0000_0100_0000_01b3);
    let hash = list.iter().fold(0xcbf2_9ce4_8422_2325, of);
    (hash ^ (hash >> 32)) as usize
}
