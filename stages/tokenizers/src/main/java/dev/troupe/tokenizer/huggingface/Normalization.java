package dev.troupe.tokenizer.huggingface;

import dev.troupe.tokenizer.file.FilePart;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HexFormat;
import java.util.List;

/** The normalization of a text before it is split into words: a sequence of Unicode normal forms. Immutable. */
record Normalization(List<Normalizer.Form> forms, FilePart source) {
    /** Sorting marks takes the square of their number; Unicode's stream-safe text has 30 in a row. */
    private static final int MOST_MARKS = 1_000;

    /**
     * A text of characters below these has all forms, canonical ones or compatible ones; a form changes nothing across one.
     */
    private static final char CANONICAL = 0x300;
    private static final char COMPATIBLE = 0x80;
    /**
     * The characters with normal forms only since Unicode versions after 9, the version of Hugging Face's tokenizers, which
     * leave them and their neighbours unchanged. OracleTest finds missing ones.
     */
    private static final String LATER_RANGES = "7FD 897-89F 8CA-8D3 9FE C3C D3B-D3C EBA 1715 1ABF-1ACE 1DF6-1DFA 32FF "
            + "A7F2-A7F4 A82C AB69 105C9 105E4 10781-10785 10787-107B0 107B2-107BA 10D24-10D27 10D69-10D6D 10EAB-10EAC "
            + "10EFD-10EFF 10F46-10F50 10F82-10F85 11070 1133B 11383 11385 1138E 11391 113C5 113C7-113C8 113CE-113D0 1145E "
            + "11839-1183A 11938 1193D-1193E 11943 119E0 11A34 11A47 11A99 11D42 11D44-11D45 11D97 11F41-11F42 16121-16128 "
            + "1612F 16D68-16D6A 16FF0-16FF1 1CCD6-1CCF9 1E030-1E06D 1E08F 1E130-1E136 1E2AE 1E2EC-1E2EF 1E4EC-1E4EF "
            + "1E5EE-1E5EF 1F16C 1FBF0-1FBF9";
    private static final BitSet LATER = later();

    Normalization {
        forms = List.copyOf(forms);
    }

    private static BitSet later() {
        BitSet later = new BitSet();
        for (String range : LATER_RANGES.split(" ")) {
            String[] ends = range.split("-");
            later.set(HexFormat.fromHexDigits(ends[0]), HexFormat.fromHexDigits(ends[ends.length - 1]) + 1);
        }
        // A composition of one of them begins with a character that is as new.
        for (int code : later.stream().toArray()) {
            later.set(Normalizer.normalize(Character.toString(code), Normalizer.Form.NFD).codePointAt(0));
        }
        return later;
    }

    static Normalization read(FilePart part) {
        List<Normalizer.Form> forms = new ArrayList<>();
        if (!part.isAbsent()) {
            collect(part, forms);
        }
        if (forms.size() > PreTokenizer.MOST) {
            throw part.refusal("has " + forms.size() + " steps, more than " + PreTokenizer.MOST);
        }
        return new Normalization(forms, part);
    }

    private static void collect(FilePart part, List<Normalizer.Form> forms) {
        part.requireType("NFC", "NFD", "NFKC", "NFKD", "Sequence");
        if (part.type().equals("Sequence")) {
            part.at("normalizers").elements().forEach(inner -> collect(inner, forms));
        } else {
            forms.add(Normalizer.Form.valueOf(part.type()));
        }
    }

    boolean changesNothing() {
        return forms.isEmpty();
    }

    String apply(String text) {
        String result = text;
        for (Normalizer.Form form : forms) {
            result = apply(result, form);
        }
        return result;
    }

    /** Applies a form to each run of characters that it may change, with the character before it. */
    private String apply(String text, Normalizer.Form form) {
        char below = form == Normalizer.Form.NFC ? CANONICAL : COMPATIBLE;
        StringBuilder changed = new StringBuilder();
        int done = 0;
        for (int at = 0; at < text.length(); at++) {
            if (text.charAt(at) < below) {
                continue;
            }
            int from = Math.max(done, at - 1);
            int marks = 0;
            while (at < text.length() && text.charAt(at) >= below) {
                marks = isMark(text.codePointAt(at)) ? marks + 1 : 0;
                if (marks > MOST_MARKS) {
                    throw source.refusal("is not applied to a text with more than " + MOST_MARKS
                            + " combining marks in a row; take that text out");
                }
                at++;
            }
            changed.append(text, done, from);
            applyToRun(text.substring(from, at), form, changed);
            done = at;
        }
        return done == 0 ? text : changed.append(text, done, text.length()).toString();
    }

    private static boolean isMark(int code) {
        return switch (Character.getType(code)) {
            case Character.NON_SPACING_MARK, Character.COMBINING_SPACING_MARK, Character.ENCLOSING_MARK -> true;
            default -> code >= 0xDC00 && code <= 0xDFFF; // the second half of one, or of none
        };
    }

    private static void applyToRun(String run, Normalizer.Form form, StringBuilder changed) {
        int from = 0;
        for (int at = 0; at < run.length();) {
            int code = run.codePointAt(at);
            int after = at + Character.charCount(code);
            if (LATER.get(code)) {
                changed.append(Normalizer.normalize(run.substring(from, at), form)).append(run, at, after);
                from = after;
            }
            at = after;
        }
        changed.append(Normalizer.normalize(run.substring(from), form));
    }
}
