//! A store of lists of ports, in which equal lists are kept once and known by number.

/// Lists of ports, stored one behind the other without an allocation for each list.
#[derive(Debug, Clone, Default)]
pub(super) struct PortLists {
    ports: Vec<u16>,
    /// The position of each list in `ports`: its begin, shifted left by 16 bits, and its length
    /// below.
    spans: Vec<u64>,
    /// Hash table of the numbers of the lists. Its size is a power of two, and at least half of its
    /// slots are free.
    slots: Vec<u32>,
}

/// The mark of a free slot of the hash table.
const FREE: u32 = u32::MAX;

impl PortLists {
    /// The number of different lists.
    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    /// All lists, in the order of their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u16]> {
        self.spans.iter().map(|span| self.at(*span))
    }

    /// The position of each list, as a begin shifted left by 16 bits with the length below, and the
    /// ports of all lists.
    pub(super) fn into_parts(self) -> (Vec<u64>, Vec<u16>) {
        (self.spans, self.ports)
    }

    /// The number of a list of at most 65535 ports: that of an equal list, otherwise the next free
    /// number, under which the list is stored. O(list).
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

    /// Doubles the hash table.
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

/// A hash of a list: FNV-1a over its ports, with the upper half of the bits folded in.
fn hash(list: &[u16]) -> usize {
    let of = |hash: u64, port: &u16| (hash ^ u64::from(*port)).wrapping_mul(0x0000_0100_0000_01b3);
    let hash = list.iter().fold(0xcbf2_9ce4_8422_2325, of);
    (hash ^ (hash >> 32)) as usize
}
