package dev.troupe.tokenizer.huggingface;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;

/**
 * The parser of the regular expressions of pre-tokenizers, in Oniguruma's syntax as far as these files use it: literals,
 * escapes, classes, {@code \p}, groups, {@code (?i:} groups, look-ahead, and greedy repetition of single characters. Other
 * syntax differs between Oniguruma and other parsers, and is refused.
 */
final class RegexReader {
    private static final Map<String, Integer> CATEGORIES = categories();
    private static final String UNCLOSED_CLASS = "a [ has no ]";
    private static final String META = "\\[](){}*+?|^$.";

    /** Four times the longest of a published tokenizer; each character of one may be a set of 8 KiB. */
    static final int LONGEST = 2048;
    private static final int DEEPEST = 32;

    private final String pattern;
    private int at;
    private int depth;
    private boolean ignoresCase;

    private RegexReader(String pattern) {
        this.pattern = pattern;
    }

    /** The part that is not understood, in words. */
    static final class Refusal extends Exception {
        private static final long serialVersionUID = 1L;

        Refusal(String message) {
            super(message);
        }
    }

    /**
     * Reads a pattern.
     *
     * @throws Refusal if it has unknown syntax, or matches no text at all
     */
    static Regex read(String pattern) throws Refusal {
        RegexReader reader = new RegexReader(pattern);
        Regex regex = reader.choice();
        if (reader.at < pattern.length()) {
            throw reader.refusal("a ) without its (");
        }
        if (regex.canBeEmpty()) {
            throw new Refusal("it matches text of no character");
        }
        return regex;
    }

    /** Returns the expression of a literal text, which must not be empty. */
    static Regex literal(String text) throws Refusal {
        if (text.isEmpty()) {
            throw new Refusal("it is empty");
        }
        return new Regex.Sequence(text.codePoints().<Regex>mapToObj(code -> once(new CodeSet(other -> other == code)))
                .toList());
    }

    private Regex choice() throws Refusal {
        List<Regex> branches = new ArrayList<>(List.of(sequence()));
        while (at < pattern.length() && pattern.charAt(at) == '|') {
            at++;
            branches.add(sequence());
        }
        return branches.size() == 1 ? branches.getFirst() : new Regex.Choice(branches);
    }

    private Regex sequence() throws Refusal {
        List<Regex> parts = new ArrayList<>();
        while (at < pattern.length() && pattern.charAt(at) != '|' && pattern.charAt(at) != ')') {
            parts.add(repeated(term()));
        }
        return parts.size() == 1 ? parts.getFirst() : new Regex.Sequence(parts);
    }

    private Regex term() throws Refusal {
        char first = pattern.charAt(at);
        if (first == '(') {
            return group();
        }
        return once(first == '[' ? set() : new CodeSet(single(false)));
    }

    private static Regex once(CodeSet set) {
        return new Regex.Repeat(set, 1, 1);
    }

    private Regex group() throws Refusal {
        if (++depth > DEEPEST) {
            throw refusal("more than " + DEEPEST + " groups inside each other");
        }
        Regex inside = insideOfGroup();
        depth--;
        return inside;
    }

    private Regex insideOfGroup() throws Refusal {
        for (String look : List.of("(?=", "(?!")) {
            if (pattern.startsWith(look, at)) {
                at += look.length();
                Regex what = choice();
                close();
                return new Regex.LookAhead(what, look.endsWith("!"));
            }
        }
        boolean outside = ignoresCase;
        if (pattern.startsWith("(?i:", at)) {
            at += 4;
            ignoresCase = true;
        } else if (pattern.startsWith("(?:", at)) {
            at += 3;
        } else if (pattern.startsWith("(?", at)) {
            throw refusal("a group that is not known");
        } else {
            at++;
        }
        Regex inside = choice();
        close();
        ignoresCase = outside;
        return inside;
    }

    private void close() throws Refusal {
        if (at == pattern.length()) {
            throw new Refusal("a ( has no )");
        }
        at++;
    }

    private Regex repeated(Regex term) throws Refusal {
        int begin = at;
        int least = 1;
        int most = 1;
        switch (at < pattern.length() ? pattern.charAt(at) : ' ') {
            case '?' -> least = 0;
            case '*' -> {
                least = 0;
                most = Regex.UNBOUNDED;
            }
            case '+' -> most = Regex.UNBOUNDED;
            case '{' -> {
                least = number();
                if (pattern.startsWith(",}", at)) {
                    at++;
                    most = Regex.UNBOUNDED;
                } else {
                    most = pattern.startsWith(",", at) ? number() : least;
                }
                if (!pattern.startsWith("}", at) || most < least) {
                    throw refusal("a repetition that is not {n}, {n,} or {n,m}");
                }
            }
            default -> {
                return term;
            }
        }
        at++;
        if (at < pattern.length() && "?+*{".indexOf(pattern.charAt(at)) >= 0) {
            throw refusal("a repetition that is lazy, possessive or repeated");
        }
        if (term instanceof Regex.Repeat(CodeSet set, int one, int alsoOne) && one == 1 && alsoOne == 1) {
            return new Regex.Repeat(set, least, most);
        }
        if (least == 0 && most == 1 && !(term instanceof Regex.LookAhead)) {
            return new Regex.Choice(List.of(term, new Regex.Sequence(List.of())));
        }
        at = begin;
        throw refusal("a repetition of a group");
    }

    /** Reads the number after the sign here. */
    private int number() throws Refusal {
        int begin = ++at;
        while (at < pattern.length() && Character.isDigit(pattern.charAt(at)) && at - begin < 6) {
            at++;
        }
        if (at == begin) {
            throw refusal("a repetition without its number");
        }
        return Integer.parseInt(pattern, begin, at, 10);
    }

    private CodeSet set() throws Refusal {
        at++;
        boolean isNegative = at < pattern.length() && pattern.charAt(at) == '^';
        at += isNegative ? 1 : 0;
        IntPredicate any = _ -> false;
        int begin = at;
        while (at < pattern.length() && (pattern.charAt(at) != ']' || at == begin)) {
            if (pattern.charAt(at) == '[' || pattern.startsWith("&&", at)) {
                throw refusal("a class inside a class");
            }
            any = any.or(range());
        }
        if (at == pattern.length()) {
            throw new Refusal(UNCLOSED_CLASS);
        }
        at++;
        return new CodeSet(isNegative ? any.negate() : any);
    }

    private IntPredicate range() throws Refusal {
        int begin = at;
        IntPredicate first = single(true);
        if (!pattern.startsWith("-", at) || pattern.startsWith("-]", at)) {
            return first;
        }
        int from = codeOf(begin, at);
        begin = ++at;
        if (at == pattern.length()) {
            throw new Refusal(UNCLOSED_CLASS);
        }
        single(true);
        int to = codeOf(begin, at);
        if (from < 0 || to < from) {
            throw refusal("a range that is not from a character to a later one");
        }
        if (ignoresCase) {
            throw refusal("a range without regard to case");
        }
        return code -> code >= from && code <= to;
    }

    /** Returns the one character that a part of the pattern matches; -1 if it is not one. */
    private int codeOf(int from, int to) {
        int code = pattern.codePointAt(from);
        if (code != '\\') {
            return code;
        }
        char letter = pattern.charAt(from + 1);
        return to - from == 2 && (isPlain(letter) || "rntfv".indexOf(letter) >= 0) ? escaped(letter) : -1;
    }

    /** Reads a literal character, an escape or a property. */
    private IntPredicate single(boolean isInClass) throws Refusal {
        int code = pattern.codePointAt(at);
        if (code != '\\') {
            if (!isInClass && code < 128 && META.indexOf(code) >= 0) {
                throw refusal("the sign " + Character.toString(code) + " without a character before it");
            }
            at += Character.charCount(code);
            return character(code);
        }
        if (at + 1 == pattern.length()) {
            throw refusal("a \\ at its end");
        }
        char letter = pattern.charAt(at + 1);
        at += 2;
        return switch (letter) {
            case 's' -> CodeSet::isSpace;
            case 'S' -> code2 -> !CodeSet.isSpace(code2);
            case 'd' -> category("Nd");
            case 'D' -> category("Nd").negate();
            case 'p' -> property();
            case 'P' -> property().negate();
            case 'r', 'n', 't', 'f', 'v' -> character(escaped(letter));
            default -> {
                if (!isPlain(letter)) {
                    at -= 2;
                    throw refusal("an escape that is not known");
                }
                yield character(letter);
            }
        };
    }

    private static boolean isPlain(char letter) {
        return letter < 128 && !Character.isLetterOrDigit(letter);
    }

    private static int escaped(char letter) {
        return switch (letter) {
            case 'r' -> '\r';
            case 'n' -> '\n';
            case 't' -> '\t';
            case 'f' -> '\f';
            case 'v' -> 0x0B;
            default -> letter;
        };
    }

    private IntPredicate character(int code) {
        return ignoresCase ? other -> folded(other) == folded(code) : other -> other == code;
    }

    private static int folded(int code) {
        return Character.toLowerCase(Character.toUpperCase(code));
    }

    private IntPredicate property() throws Refusal {
        int end = pattern.indexOf('}', at);
        if (!pattern.startsWith("{", at) || end < 0) {
            throw refusal("a property without its name in braces");
        }
        String name = pattern.substring(at + 1, end);
        IntPredicate property = category(name);
        at = end + 1;
        return property;
    }

    private IntPredicate category(String name) throws Refusal {
        Integer types = CATEGORIES.get(name);
        if (types != null) {
            int wanted = types;
            return code -> (wanted >>> Character.getType(code) & 1) != 0;
        }
        try {
            Character.UnicodeScript script = Character.UnicodeScript.forName(name);
            return code -> Character.UnicodeScript.of(code) == script;
        } catch (IllegalArgumentException unknown) {
            throw refusal("the property " + name + ", which is no general category and no script");
        }
    }

    /** Returns for each general category, and each of their first letters, the bits of its types. */
    private static Map<String, Integer> categories() {
        Map<String, Integer> bits = new HashMap<>();
        String names = "Cn Lu Ll Lt Lm Lo Mn Me Mc Nd Nl No Zs Zl Zp Cc Cf -- Co Cs Pd Ps Pe Pc Po Sm Sc Sk So Pi Pf";
        String[] byType = names.split(" ");
        for (int type = 0; type < byType.length; type++) {
            bits.merge(byType[type], 1 << type, (some, more) -> some | more);
            bits.merge(byType[type].substring(0, 1), 1 << type, (some, more) -> some | more);
        }
        return bits;
    }

    private Refusal refusal(String what) {
        return new Refusal("it has " + what + " at character " + at);
    }
}
