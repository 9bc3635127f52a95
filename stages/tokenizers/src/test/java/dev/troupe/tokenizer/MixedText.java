package dev.troupe.tokenizer;

import java.util.SplittableRandom;

/** Text of many scripts, code, numbers, white space and signs, drawn from a seed. */
final class MixedText {
    private static final String[] PARTS = {"the", "It's", "don't", "WE'VE", "I'LL", "'s", "'ſ", "'", "\"", " ", "  ",
            "   ",
            "        ", "\n", "\n\n", "\r\n", "\t", "\t\t", " \n \n", "\u00a0", "\u2003", "\u3000", "\u0085", "\u000b",
            "\u200b", "\u00ad", "\ufeff", "\u2028", "1", "12", "1234567", "3.14", "0x1F", "½", "²", "Ⅷ", "٣٤", "१२",
            "①", "é",
            "e\u0301", "naïve", "Straße", "ﬁ", "Å", "\u212b", "ö\u0323", "漢字", "東京", "か\u3099", "ガ", "寿司を", "。", "、",
            "Привет",
            "мир", "ЪЫ", "مرحبا", "بالعالم", "שלום", "नमस्ते", "ไทย", "한국어", "\u1112\u1161\u11ab", "Ελληνικά", "ς",
            "ქართული",
            "🎭", "😀", "👩‍👩‍👧", "🇨🇭", "𝔘𝔫𝔦", "𐐷", "𠜎", "for (int i = 0; i < n; i++) {\n\treturn;\n}",
            "def f(x):\n    return x\n",
            "<div class=\"a\">", "&&", "||", "!=", "->", "::", "--", "...", "?!", "_", "__init__", "a_b", "{", "}",
            "[1, 2]",
            "http://x.y/z?a=b", "$x", "€5", "©", "™", "→", "∑", "\\", "/", "//", "/*", "#", "@", "<|", "|>",
            "<|endoftext|>",
            "<|im_start|>", "<|eot_id|>", "<|begin_of_text|>", "x", "Y", "zz", "\u0000", "\u0007", "\u0300", "\ue000",
            "\u0378"};
    private static final String WORDS = "First Citizen Before we proceed any further hear me speak "
            + "You are all resolved rather to die than to famish know Caius Marcius is chief enemy to the people";

    private MixedText() {
    }

    /** Returns a text of at least {@code characters} UTF-16 characters. */
    static String of(long seed, int characters) {
        SplittableRandom random = new SplittableRandom(seed);
        String[] words = WORDS.split(" ");
        StringBuilder text = new StringBuilder(characters + 100);
        while (text.length() < characters) {
            switch (random.nextInt(5)) {
                case 0, 1 -> text.append(words[random.nextInt(words.length)]).append(random.nextInt(3) == 0 ? "" : " ");
                case 2, 3 -> text.append(PARTS[random.nextInt(PARTS.length)]);
                default -> text.appendCodePoint(codePoint(random));
            }
        }
        return text.toString();
    }

    private static int codePoint(SplittableRandom random) {
        while (true) {
            int code = random.nextInt(random.nextInt(4) == 0 ? Character.MAX_CODE_POINT + 1 : 0x3000);
            if (Character.isDefined(code) && Character.getType(code) != Character.SURROGATE) {
                return code;
            }
        }
    }
}
