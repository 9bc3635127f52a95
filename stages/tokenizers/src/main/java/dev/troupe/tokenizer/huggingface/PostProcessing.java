package dev.troupe.tokenizer.huggingface;

import dev.troupe.tokenizer.file.FilePart;
import java.util.ArrayList;
import java.util.List;

/** The special tokens before and after a whole text. Immutable. */
record PostProcessing(List<Integer> before, List<Integer> after) {
    /** Published tokenizers have one or two; a file can name many tokens of many ids each. */
    private static final int MOST_IDS = 1_000;

    PostProcessing {
        before = List.copyOf(before);
        after = List.copyOf(after);
    }

    static PostProcessing read(FilePart part) {
        PostProcessing result = new PostProcessing(List.of(), List.of());
        return part.isAbsent() ? result : result.then(part);
    }

    private PostProcessing then(FilePart part) {
        part.requireType("ByteLevel", "Sequence", "TemplateProcessing");
        return switch (part.type()) {
            case "Sequence" -> {
                PostProcessing result = this;
                for (FilePart inner : part.at("processors").elements()) {
                    result = result.then(inner);
                }
                yield result;
            }
            case "TemplateProcessing" -> around(part);
            default -> this; // ByteLevel changes offsets alone
        };
    }

    private PostProcessing around(FilePart template) {
        List<Integer> outerBefore = new ArrayList<>();
        List<Integer> outerAfter = new ArrayList<>();
        boolean hasText = false;
        for (FilePart piece : template.at("single").elements()) {
            FilePart token = piece.at("SpecialToken");
            if (!token.isAbsent()) {
                List<FilePart> ids = template.at("special_tokens").at(token.at("id").text()).at("ids").elements();
                List<Integer> side = hasText ? outerAfter : outerBefore;
                if (side.size() + ids.size() > MOST_IDS) {
                    throw template.at("single").refusal("must have at most " + MOST_IDS
                            + " ids of special tokens on each side of the text, but has more");
                }
                ids.forEach(id -> side.add(id.id()));
                continue;
            }
            if (hasText || !piece.at("Sequence").at("id").text().equals("A")) {
                throw template.at("single").refusal("must have the sequence A once");
            }
            hasText = true;
        }
        if (!hasText) {
            throw template.at("single").refusal("must have the sequence A once");
        }
        outerBefore.addAll(before);
        List<Integer> allAfter = new ArrayList<>(after);
        allAfter.addAll(outerAfter);
        return new PostProcessing(outerBefore, allAfter);
    }
}
