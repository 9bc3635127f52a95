package dev.troupe.partition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.model.ModelSpec;
import dev.troupe.model.gpt2.Gpt2;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Layout strings that are read, and the words and the place of refusals. */
@Tag("plan")
class LayoutStringTest {
    @ParameterizedTest
    @CsvSource({"Et|(tt|)*2tL,      6, 4, 2 2 2 2", "EtL,               1, 1, 3", "E|t*3|L,           3, 3, 1 3 1",
            "E(t|)*4L,          4, 5, 2 1 1 1 1", "' E t | t\tt | L ', 3, 3, 2 2 1",
            "((E)(t*2|))(t|t*2)*1L, 5, 3, 3 1 3",
            "E((t*2|)*2t|)*2tL, 11, 7, 3 2 1 2 2 1 2", "E|(t|)*10L,        10, 12, 1 1 1 1 1 1 1 1 1 1 1 1",
            "Eta|mttL,          4, 2, 3 4", "Eam|a|mL,          2, 3, 2 1 2", "E(a|m)*3L,         3, 4, 2 2 2 2"})
    void shouldReadTheForm(String layout, int blocks, int stageCount, String sizes) {
        ModelSpec model = model(blocks);
        Partition partition = Partition.layout(model, stageCount, layout);
        assertEquals(sizes, String.join(" ", partition.stages().stream()
                .map(range -> range.of(model).stream().map(layer -> String.valueOf(layer.letter()))
                        .collect(Collectors.joining()))
                .map(letters -> Integer.toString(letters.replace("am", "t").length())).toList()));
    }

    @ParameterizedTest
    @CsvSource({"Etx|tL,     2, 2, 3, 'expected E, t, a, m, L, |, ( or ), but found ''x'''",
            "Et*|tL,     2, 2, 4, expected a number after '*'",
            "Et*0|tL,    2, 2, 4, 'expected a number of repetitions from 1 to 999999, but found 0'",
            "'E(t|tL',   2, 2, 2, this '(' is never closed",
            "'Et)|tL',   2, 2, 3, there is no '(' that this ')' closes",
            "'E()t|tL',  2, 2, 2, these parentheses hold nothing",
            "'*2EttL',   2, 1, 1, 'expected E, t, a, m, L, |, ( or ), but found ''*'''",
            "tt|L,       2, 2, 1, the embedding is nowhere: the first layer must be E",
            "'',         2, 2, 1, the embedding is nowhere: the first layer must be E",
            "Et|t,       2, 2, 5, the head is nowhere: the last layer must be L",
            "Et|EtL,     2, 2, 4, 'the embedding E comes once, before everything else'",
            "EtL|tL,     2, 2, 3, 'the head L comes once, after everything else'",
            "Et|tL,      3, 2, 5, 'the model has 3 blocks, but found 2 t before the head'",
            "Et|tttL,    3, 2, 7, 'the model has 3 blocks, but found 4 t before the head'",
            "Et|aL,      2, 2, 5, 'the halves of a block come as a, m, other layers before or after both: expected m'",
            "Ea|ttL,     3, 2, 4, 'the halves of a block come as a, m, other layers before or after both: expected m'",
            "Em|tL,      2, 2, 2, 'the halves of a block come as a, m, other layers before or after both: expected a'",
            "Ea|mL,      2, 2, 5, 'the model has 2 blocks, but found 1 t before the head'",
            "Et||tL,     2, 3, 4, 'stage 1 has no layer: every stage needs at least one'",
            "|Et|tL,     2, 3, 1, 'stage 0 has no layer: every stage needs at least one'",
            "Et|tL|,     2, 3, 7, 'stage 2 has no layer: every stage needs at least one'",
            "Et|tL,      2, 3, 6, 'expected 3 stages (parallel.pipeline times parallel.virtual-stages), but found 2'",
            "E(t*999999)*999999L, 2, 3, 2, this makes more than 1000000 symbols"})
    void shouldRefuseAndMarkThePlace(String layout, int blocks, int stageCount, int column, String why) {
        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class,
                () -> Partition.layout(model(blocks), stageCount, layout));
        assertEquals(
                "the layout of the stages cannot be used: " + why + " (column " + column + ")\n  " + layout + "\n  "
                        + " ".repeat(column - 1) + "^",
                refused.getMessage());
    }

    @Test
    void shouldRefuseParenthesesNestedWithoutEnd() {
        String deep = "(".repeat(100_000);
        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class,
                () -> Partition.layout(model(1), 1, deep));
        assertEquals(List.of("the layout of the stages cannot be used: parentheses are nested more than 100 deep"
                + " (column 102)"), refused.getMessage().lines().limit(1).toList());
    }

    private static ModelSpec model(int blocks) {
        return new Gpt2(blocks, 8, 2, 4, 16, true, Gpt2.NORM_EPSILON).spec();
    }
}
