//! Scores of candidates as users write them: an expression, compiled to a program over registers.
//!
//! `hops * queue + 3` becomes a list of steps, each of which reads up to three registers and writes
//! one. The quantities of a candidate are registers that the caller fills in, so that a step costs
//! a few instructions in the loops of simulators, and nothing is allocated or looked up there.

use base::Refusal;

/// A local quantity that a score may read. Its number is that of its register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScoreQuantity {
    /// The number of links of the candidate path, from here to the switch of the destination.
    Hops,
    /// The number of flits queued at the first port of the candidate path.
    Queue,
    /// Whether the candidate is a minimal path: 1, else 0.
    IsMinimal,
    /// The number of links of a minimal path.
    MinimalHops,
    /// The number of flits queued at the first port of the first minimal path that was drawn.
    MinimalQueue,
    /// The number of links from here to the intermediate switch of the candidate; 0 for a minimal
    /// path.
    ViaHops,
    /// The number of links that the packet has crossed: 0 at its source.
    Travelled,
}

/// The quantities by the names that expressions have for them, in the order of their registers.
pub const QUANTITIES: [(&str, &str); 7] = [
    ("hops", "links of the candidate path, from the switch that decides"),
    ("queue", "flits or packets that wait at the first port of the candidate path"),
    ("is_minimal", "1 where the candidate is a minimal path, else 0"),
    ("minimal_hops", "links of a minimal path"),
    ("minimal_queue", "flits or packets that wait at the first port of the minimal path"),
    ("via_hops", "links to the intermediate switch; 0 where the candidate is a minimal path"),
    ("travelled", "links that the packet has behind it; 0 at its source"),
];
/// The functions of expressions, with the least and the largest number of their arguments.
const FUNCTIONS: [(&str, usize, usize); 4] =
    [("min", 2, usize::MAX), ("max", 2, usize::MAX), ("abs", 1, 1), ("if", 3, 3)];
/// The number of registers.
const REGISTERS: usize = 64;
/// The most characters of an expression and its deepest nesting. They bound the stack of the
/// parser.
const MOST_CHARACTERS: usize = 2000;
const MOST_NESTED: usize = 40;

/// An operation of a score's program: what a step computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScoreOperation {
    Add,
    Subtract,
    Multiply,
    Divide,
    Minimum,
    Maximum,
    Less,
    AtMost,
    Equal,
    Different,
    And,
    Or,
    /// The second operand where the first is not 0, else the third.
    Choose,
    Absolute,
    Negate,
    Not,
}

/// One operation, with the registers of its operands and of its result. Operations with fewer than
/// three operands ignore the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ScoreStep {
    operation: ScoreOperation,
    of: [u8; 3],
    into: u8,
}

/// The registers of a program: quantities first, then constants; results of steps from the last
/// register backwards.
#[derive(Debug, Clone)]
pub(super) struct ScoreRegisters {
    values: [f64; REGISTERS],
    /// Whether a score was not a number.
    is_undefined: bool,
}

impl ScoreRegisters {
    /// Makes the first minimal path the candidate: it has `hops` links, and `queue` flits are
    /// queued at its first port. The packet has crossed `travelled` links.
    #[inline]
    pub(super) fn begin(&mut self, hops: u32, queue: u32, travelled: u32) {
        self.set(ScoreQuantity::Hops, hops);
        self.set(ScoreQuantity::Queue, queue);
        self.set(ScoreQuantity::IsMinimal, 1);
        self.set(ScoreQuantity::MinimalHops, hops);
        self.set(ScoreQuantity::MinimalQueue, queue);
        self.set(ScoreQuantity::Travelled, travelled);
    }

    /// Makes another minimal path of the same length the candidate; `queue` flits are queued at its
    /// first port.
    #[inline]
    pub(super) fn another(&mut self, queue: u32) {
        self.set(ScoreQuantity::Queue, queue);
    }

    /// Makes a detour the candidate: it has `hops` links, `to_via` of them to its intermediate
    /// switch, and `queue` flits are queued at its first port.
    #[inline]
    pub(super) fn detour(&mut self, hops: u32, to_via: u32, queue: u32) {
        self.set(ScoreQuantity::IsMinimal, 0);
        self.set(ScoreQuantity::Hops, hops);
        self.set(ScoreQuantity::ViaHops, to_via);
        self.set(ScoreQuantity::Queue, queue);
    }

    #[inline]
    fn set(&mut self, quantity: ScoreQuantity, value: u32) {
        self.values[quantity as usize] = f64::from(value);
    }

    #[inline]
    fn get(&self, register: u8) -> f64 {
        self.values[usize::from(register) & (REGISTERS - 1)]
    }

    /// Whether a score that was computed with these registers was not a number.
    #[inline]
    pub(super) fn is_undefined(&self) -> bool {
        self.is_undefined
    }
}

/// A compiled score. The candidate with the lowest score is the best.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CompiledScore {
    steps: Box<[ScoreStep]>,
    constants: Box<[f64]>,
    /// The register of the result.
    result: u8,
}

impl CompiledScore {
    /// Compiles an expression. O(length).
    ///
    /// # Errors
    /// When the text is no expression: the refusal names the column, and what is valid there.
    pub(super) fn compile(text: &str) -> Result<Self, Refusal> {
        let mut compiler = ScoreCompiler::of(text);
        if text.chars().count() > MOST_CHARACTERS {
            let help = format!("{MOST_CHARACTERS} characters at most");
            return Err(compiler.refusal(MOST_CHARACTERS, "the expression is too long", &help));
        }
        let value = compiler.either()?;
        if compiler.at < compiler.text.len() {
            return Err(compiler.unexpected("an operator, or the end"));
        }
        if matches!(value, ExpressionValue::Constant(number) if !number.is_finite()) {
            let why = "the score is no finite number";
            return Err(compiler.refusal(0, why, "smaller numbers"));
        }
        let result = compiler.register(value);
        let ScoreCompiler { steps, constants, .. } = compiler;
        Ok(Self { steps: steps.into(), constants: constants.into(), result })
    }

    /// Registers for [`Self::of`], which hold the constants already.
    #[inline]
    pub(super) fn registers(&self) -> ScoreRegisters {
        let mut all = [0.0; REGISTERS];
        for (register, constant) in all[QUANTITIES.len()..].iter_mut().zip(&self.constants) {
            *register = *constant;
        }
        ScoreRegisters { values: all, is_undefined: false }
    }

    /// The score of the candidate whose quantities are in the registers; infinite where it is not a
    /// number, so that such a candidate is never better than another.
    #[inline]
    pub(super) fn of(&self, registers: &mut ScoreRegisters) -> f64 {
        for &ScoreStep { operation, of, into } in &self.steps {
            // `map` of an array compiles to a call for each element here
            let (a, b, c) = (registers.get(of[0]), registers.get(of[1]), registers.get(of[2]));
            registers.values[usize::from(into) & (REGISTERS - 1)] = computed(operation, a, b, c);
        }
        let score = registers.get(self.result);
        registers.is_undefined |= score.is_nan();
        score.min(f64::INFINITY)
    }
}

/// The result of an operation. Comparisons give 1 or 0, and every number except 0 counts as true.
#[inline]
#[expect(clippy::float_cmp, reason = "users ask whether two numbers are equal")]
fn computed(operation: ScoreOperation, a: f64, b: f64, c: f64) -> f64 {
    let truth = |holds: bool| f64::from(u8::from(holds));
    match operation {
        ScoreOperation::Add => a + b,
        ScoreOperation::Subtract => a - b,
        ScoreOperation::Multiply => a * b,
        ScoreOperation::Divide => a / b,
        ScoreOperation::Minimum => a.min(b),
        ScoreOperation::Maximum => a.max(b),
        ScoreOperation::Less => truth(a < b),
        ScoreOperation::AtMost => truth(a <= b),
        ScoreOperation::Equal => truth(a == b),
        ScoreOperation::Different => truth(a != b),
        ScoreOperation::And => truth(a != 0.0 && b != 0.0),
        ScoreOperation::Or => truth(a != 0.0 || b != 0.0),
        ScoreOperation::Choose => {
            if a == 0.0 {
                c
            } else {
                b
            }
        }
        ScoreOperation::Absolute => a.abs(),
        ScoreOperation::Negate => -a,
        ScoreOperation::Not => truth(a == 0.0),
    }
}

/// The value of a compiled part of an expression: a known number, or the register that has it.
#[derive(Debug, Clone, Copy)]
enum ExpressionValue {
    Constant(f64),
    Quantity(u8),
    /// The number of a result that no later step has used yet.
    Result(u8),
}

/// The parser of expressions, which writes steps as it reads.
struct ScoreCompiler {
    text: Vec<char>,
    at: usize,
    steps: Vec<ScoreStep>,
    constants: Vec<f64>,
    /// The number of results that no later step has used yet; the most recent ones are used first.
    results: usize,
    nested: usize,
}

impl ScoreCompiler {
    fn of(text: &str) -> Self {
        let (steps, constants) = (Vec::new(), Vec::new());
        let mut it =
            Self { text: text.chars().collect(), at: 0, steps, constants, results: 0, nested: 0 };
        it.skip();
        it
    }

    fn refusal(&self, at: usize, why: &str, help: &str) -> Refusal {
        let text: String = self.text.iter().take(MOST_CHARACTERS).collect();
        Refusal::new("selection", format!("score '{text}', column {}: {why}", at + 1), help)
    }

    /// The refusal of the character at the current position, where `wanted` is expected.
    fn unexpected(&self, wanted: &str) -> Refusal {
        let found = match self.text.get(self.at) {
            Some(c) => format!("'{c}'"),
            None => "the end".to_owned(),
        };
        self.refusal(self.at, &format!("{found} is not expected"), &format!("{wanted} is"))
    }

    fn skip(&mut self) {
        while self.text.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
    }

    /// Skips `word` and returns true if it comes next. A name must be whole: `min` is not part of
    /// `minimal`.
    fn takes(&mut self, word: &str) -> bool {
        let end = self.at + word.len();
        let is_name = |c: &char| c.is_alphanumeric() || *c == '_';
        let is_next = self.text[self.at..].iter().copied().take(word.len()).eq(word.chars());
        let is_cut =
            word.starts_with(char::is_alphabetic) && self.text.get(end).is_some_and(is_name);
        if !is_next || is_cut {
            return false;
        }
        self.at = end;
        self.skip();
        true
    }

    /// The register of a value; a constant gets a register.
    fn register(&mut self, value: ExpressionValue) -> u8 {
        match value {
            ExpressionValue::Quantity(register) => register,
            ExpressionValue::Result(number) => (REGISTERS - 1) as u8 - number,
            ExpressionValue::Constant(number) => {
                let same = |known: &f64| known.to_bits() == number.to_bits();
                let place = self.constants.iter().position(same).unwrap_or_else(|| {
                    self.constants.push(number);
                    self.constants.len() - 1
                });
                (QUANTITIES.len() + place) as u8
            }
        }
    }

    /// Compiles an operation whose operands have just been compiled in this order.
    fn step(
        &mut self,
        operation: ScoreOperation,
        operands: &[ExpressionValue],
    ) -> Result<ExpressionValue, Refusal> {
        let known: Vec<f64> = operands
            .iter()
            .filter_map(|v| {
                if let ExpressionValue::Constant(number) = v { Some(*number) } else { None }
            })
            .collect();
        if known.len() == operands.len() {
            let operand = |place: usize| known.get(place).copied().unwrap_or(0.0);
            return Ok(ExpressionValue::Constant(computed(
                operation,
                operand(0),
                operand(1),
                operand(2),
            )));
        }
        let mut of = [0; 3];
        for (register, operand) in of.iter_mut().zip(operands) {
            *register = self.register(*operand);
        }
        self.results -= operands.iter().filter(|v| matches!(v, ExpressionValue::Result(_))).count();
        let number = self.results as u8;
        self.results += 1;
        if QUANTITIES.len() + self.constants.len() + self.results > REGISTERS {
            let why = "the expression has too many numbers and parentheses";
            return Err(self.refusal(self.at, why, "a shorter one"));
        }
        let into = self.register(ExpressionValue::Result(number));
        self.steps.push(ScoreStep { operation, of, into });
        Ok(ExpressionValue::Result(number))
    }

    /// Compiles an expression: `or` binds least.
    fn either(&mut self) -> Result<ExpressionValue, Refusal> {
        self.nested += 1;
        if self.nested > MOST_NESTED {
            let help = format!("{MOST_NESTED} parentheses at most");
            return Err(self.refusal(self.at, "the expression is nested too deep", &help));
        }
        let mut left = self.both()?;
        while self.takes("or") {
            let right = self.both()?;
            left = self.step(ScoreOperation::Or, &[left, right])?;
        }
        self.nested -= 1;
        Ok(left)
    }

    fn both(&mut self) -> Result<ExpressionValue, Refusal> {
        let mut left = self.compared()?;
        while self.takes("and") {
            let right = self.compared()?;
            left = self.step(ScoreOperation::And, &[left, right])?;
        }
        Ok(left)
    }

    fn compared(&mut self) -> Result<ExpressionValue, Refusal> {
        let mut inverted = false;
        let mut is_inverted = false;
        while self.takes("not") {
            (inverted, is_inverted) = (!inverted, true);
        }
        let left = self.sum()?;
        let signs = [
            ("<=", ScoreOperation::AtMost, false),
            (">=", ScoreOperation::AtMost, true),
            ("==", ScoreOperation::Equal, false),
            ("!=", ScoreOperation::Different, false),
            ("<", ScoreOperation::Less, false),
            (">", ScoreOperation::Less, true),
        ];
        let mut found = left;
        for (sign, operation, swaps) in signs {
            if self.takes(sign) {
                let right = self.sum()?;
                let operands = if swaps { [right, left] } else { [left, right] };
                found = self.step(operation, &operands)?;
                break;
            }
        }
        if is_inverted {
            found = self.step(ScoreOperation::Not, &[found])?;
            if !inverted {
                found = self.step(ScoreOperation::Not, &[found])?;
            }
        }
        Ok(found)
    }

    fn sum(&mut self) -> Result<ExpressionValue, Refusal> {
        let mut left = self.product()?;
        loop {
            let operation = match self.text.get(self.at) {
                Some('+') => ScoreOperation::Add,
                Some('-') => ScoreOperation::Subtract,
                _ => return Ok(left),
            };
            self.at += 1;
            self.skip();
            let right = self.product()?;
            left = self.step(operation, &[left, right])?;
        }
    }

    fn product(&mut self) -> Result<ExpressionValue, Refusal> {
        let mut left = self.signed()?;
        loop {
            let operation = match self.text.get(self.at) {
                Some('*') => ScoreOperation::Multiply,
                Some('/') => ScoreOperation::Divide,
                _ => return Ok(left),
            };
            let sign = self.at;
            self.at += 1;
            self.skip();
            let right = self.signed()?;
            if operation == ScoreOperation::Divide
                && matches!(right, ExpressionValue::Constant(0.0))
            {
                let help = "a divisor that is not always 0, such as max(queue, 1)";
                return Err(self.refusal(sign, "a division by 0 gives no score", help));
            }
            left = self.step(operation, &[left, right])?;
        }
    }

    fn signed(&mut self) -> Result<ExpressionValue, Refusal> {
        let mut is_negative = false;
        while self.takes("-") {
            is_negative = !is_negative;
        }
        let value = self.atom()?;
        if is_negative { self.step(ScoreOperation::Negate, &[value]) } else { Ok(value) }
    }

    /// Compiles a number, a quantity, a function with its arguments, or an expression in
    /// parentheses.
    fn atom(&mut self) -> Result<ExpressionValue, Refusal> {
        let begin = self.at;
        match self.text.get(begin) {
            Some('(') => {
                self.takes("(");
                let inner = self.either()?;
                if self.takes(")") { Ok(inner) } else { Err(self.unexpected("')'")) }
            }
            Some(c) if c.is_ascii_digit() || *c == '.' => self.number(),
            Some(c) if c.is_alphabetic() || *c == '_' => {
                while self.text.get(self.at).is_some_and(|c| c.is_alphanumeric() || *c == '_') {
                    self.at += 1;
                }
                let name: String = self.text[begin..self.at].iter().collect();
                self.skip();
                if let Some(register) = QUANTITIES.iter().position(|(known, _)| *known == name) {
                    return Ok(ExpressionValue::Quantity(register as u8));
                }
                let function = FUNCTIONS.iter().find(|(known, ..)| *known == name);
                if let Some(&(_, least, most)) = function {
                    return self.function(&name, (least, most), begin);
                }
                let quantities = QUANTITIES.map(|(known, _)| known).join(", ");
                let functions = FUNCTIONS.map(|(known, ..)| known).join(", ");
                let help = format!("{quantities}, or a function: {functions}");
                Err(self.refusal(begin, &format!("'{name}' is no quantity"), &help))
            }
            _ => Err(self.unexpected("a number, a quantity or '('")),
        }
    }

    fn number(&mut self) -> Result<ExpressionValue, Refusal> {
        let begin = self.at;
        let is_digit = |c: Option<&char>| c.is_some_and(|c| c.is_ascii_digit() || *c == '.');
        while is_digit(self.text.get(self.at)) {
            self.at += 1;
        }
        if matches!(self.text.get(self.at), Some('e' | 'E')) {
            self.at += 1;
            if matches!(self.text.get(self.at), Some('+' | '-')) {
                self.at += 1;
            }
            while is_digit(self.text.get(self.at)) {
                self.at += 1;
            }
        }
        let text: String = self.text[begin..self.at].iter().collect();
        self.skip();
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(ExpressionValue::Constant(number)),
            _ => Err(self.refusal(begin, &format!("'{text}' is no number"), "3, 0.5 or 1e3")),
        }
    }

    /// Compiles a function from the parentheses with its arguments; its name was read before.
    fn function(
        &mut self,
        name: &str,
        (least, most): (usize, usize),
        begin: usize,
    ) -> Result<ExpressionValue, Refusal> {
        if !self.takes("(") {
            return Err(self.unexpected(&format!("'(' behind {name}")));
        }
        let operation = match name {
            "min" => Some(ScoreOperation::Minimum),
            "max" => Some(ScoreOperation::Maximum),
            _ => None,
        };
        let mut found = vec![self.either()?];
        let mut count = 1;
        while self.takes(",") {
            let next = self.either()?;
            count += 1;
            match operation {
                Some(operation) => found = vec![self.step(operation, &[found[0], next])?],
                None => found.push(next),
            }
            if count > most {
                break;
            }
        }
        if count <= most && self.text.get(self.at) != Some(&')') {
            return Err(self.unexpected("',' or ')'"));
        }
        if count < least || count > most {
            let more = if count > most { " or more" } else { "" };
            let why = format!("{name} has {count}{more} arguments");
            let help = if most == usize::MAX { "2 or more".to_owned() } else { most.to_string() };
            return Err(self.refusal(begin, &why, &help));
        }
        self.takes(")");
        match name {
            "abs" => self.step(ScoreOperation::Absolute, &found),
            "if" => self.step(ScoreOperation::Choose, &found),
            _ => Ok(found[0]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of an expression in which the quantities, in their order, are 2, 3, 0, 5, 7, 1 and
    /// 0.
    fn value(text: &str) -> f64 {
        let score = CompiledScore::compile(text).unwrap_or_else(|refused| panic!("{refused}"));
        let mut registers = score.registers();
        for (register, number) in
            registers.values.iter_mut().zip([2.0, 3.0, 0.0, 5.0, 7.0, 1.0, 0.0])
        {
            *register = number;
        }
        let first = score.of(&mut registers);
        assert_eq!(score.of(&mut registers).to_bits(), first.to_bits(), "{text}: twice");
        first
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "all of these numbers are exact")]
    fn expressions_are_what_arithmetic_says() {
        for (text, expected) in [
            ("hops * queue + 3", 9.0),
            ("3 + hops * queue", 9.0),
            ("(3 + hops) * queue", 15.0),
            (" minimal_hops - hops - queue ", 0.0),
            ("minimal_hops-(hops-queue)", 6.0),
            ("minimal_queue / hops", 3.5),
            ("12 / hops / queue", 2.0),
            ("-hops * -queue", 6.0),
            ("--hops", 2.0),
            ("abs(hops - minimal_queue) + via_hops", 6.0),
            ("min(queue, hops, minimal_hops)", 2.0),
            ("max(queue, hops, minimal_hops) * 2", 10.0),
            ("if(hops < queue, 10, 20)", 10.0),
            ("if(hops > queue, 10, 20)", 20.0),
            ("if(is_minimal, queue, minimal_queue)", 7.0),
            ("hops <= 2 and queue >= 3", 1.0),
            ("hops == 2 and not queue == 3", 0.0),
            ("not not hops", 1.0),
            ("hops != 2 or travelled", 0.0),
            ("1.5e1 + .5", 15.5),
            ("2 * 3 + 4", 10.0),
            ("max(1, min(hops, 9), (queue + 1) * (queue - 1)) - (hops + 1) * (hops - 1)", 5.0),
            ("queue", 3.0),
            ("1 / is_minimal", f64::INFINITY),
            ("is_minimal / is_minimal", f64::INFINITY),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_expression_is_refused_with_its_column() {
        for (text, column, why) in [
            ("", 1, "the end is not expected; a number, a quantity or '(' is"),
            ("hops *", 7, "the end is not expected"),
            ("hops * que", 8, "'que' is no quantity; hops, queue, is_minimal"),
            ("hops queue", 6, "'q' is not expected; an operator, or the end is"),
            ("(hops", 6, "the end is not expected; ')' is"),
            ("hops)", 5, "')' is not expected"),
            ("min(hops)", 1, "min has 1 arguments; 2 or more"),
            ("if(hops, 1)", 1, "if has 2 arguments; 3"),
            ("abs(hops, 1)", 1, "abs has 2 or more arguments; 1"),
            ("1 + max hops", 9, "'h' is not expected; '(' behind max is"),
            ("max(hops 3)", 10, "'3' is not expected; ',' or ')' is"),
            ("1.2.3", 1, "'1.2.3' is no number"),
            ("1e999", 1, "'1e999' is no number"),
            ("hops % 2", 6, "'%' is not expected"),
            ("hops < queue < 3", 14, "'<' is not expected"),
            ("hops = 3", 6, "'=' is not expected"),
            ("hops / 0", 6, "a division by 0"),
            ("0/0", 2, "a division by 0"),
            ("queue + hops / (2 - 1 - 1)", 14, "a division by 0"),
            ("1e300 * 1e300", 1, "the score is no finite number"),
            ("é", 1, "'é' is no quantity"),
        ] {
            let refused = CompiledScore::compile(text).expect_err(text).to_string();
            let expected = format!("selection: score '{text}', column {column}: {why}");
            assert!(refused.starts_with(&expected), "{refused}\n{expected}");
        }
    }

    #[test]
    fn expressions_have_bounds() {
        let nested = |depth: usize| "(".repeat(depth) + "hops" + &")".repeat(depth);
        assert!(CompiledScore::compile(&nested(MOST_NESTED - 1)).is_ok());
        assert!(CompiledScore::compile(&nested(MOST_NESTED)).is_err());
        let sum = |terms: usize| (0..terms).map(|i| format!("hops*{i}.5")).collect::<Vec<_>>();
        assert!(CompiledScore::compile(&sum(50).join("+")).is_ok());
        assert!(CompiledScore::compile(&sum(60).join("+")).is_err());
        assert!(
            CompiledScore::compile(&vec!["hops"; 380].join("+ ")).is_err(),
            "too many characters"
        );
        let right = |terms: usize| "hops-(queue*".repeat(terms) + "1" + &")".repeat(terms);
        assert!(CompiledScore::compile(&right(30)).is_ok());
    }
}
