package dev.troupe.shard;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.layer.Parameter;
import dev.troupe.model.spec.Axis;
import dev.troupe.model.spec.Init;
import dev.troupe.model.spec.NamedShape;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.model.spec.Split;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.ExpertShare;
import dev.troupe.parallel.ParameterGroup;
import dev.troupe.parallel.TensorGroup;
import dev.troupe.parallel.TensorSlice;
import dev.troupe.parallel.Zero;
import dev.troupe.shard.BufferLayout.Bucket;
import dev.troupe.shard.BufferLayout.Piece;
import dev.troupe.shard.BufferLayout.Run;
import dev.troupe.stage.InMemoryGroup;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class BufferLayoutTest {
    private final Parameter table = parameter("table", 5, 26);
    private final Parameter gamma = parameter("gamma", 26);
    private final Parameter matrix = parameter("matrix", 8, 8);
    private final Parameter bias = parameter("bias", 65);

    @Test
    void shouldLayMatricesBeforeVectorsInTheOrderOfTheLayers() {
        // table 130, matrix 64 | gamma 26, bias 65, each to the next multiple of 64
        BufferLayout layout = new BufferLayout(List.of(table, gamma, matrix, bias));
        Bucket only = layout.buckets().getFirst();
        assertEquals(List.of(table, matrix, gamma, bias), only.parameters());
        assertEquals(List.of(0L, 192L, 256L, 320L), only.parameters().stream().map(layout::start).toList());
        assertEquals(256, only.decayingEnd());
        assertEquals(448, layout.elementCount());
        assertEquals(List.of(new Run(true, new Piece(0, 0, 256)), new Run(false, new Piece(256, 256, 192))),
                layout.runs(false));
        assertEquals(layout.runs(false), layout.runsOfShare());
    }

    @Test
    void shouldLayMatricesOfHiddenLayersBeforeTables() {
        NamedShape shape = NamedShape.of(Axis.INNER, 8, Axis.HIDDEN, 9);
        Parameter hidden = Parameter.of(
                ParameterSpec.hiddenMatrix("hidden", shape, new Init.Constant(0), new Split.Whole(), true),
                TensorSlice.whole(shape.sizes()), false);
        // hidden 72 | table 130 | gamma 26
        BufferLayout layout = new BufferLayout(List.of(table, gamma, hidden));
        assertEquals(List.of(hidden, table, gamma), layout.buckets().getFirst().parameters());
        assertEquals(List.of(new Run(true, new Piece(0, 0, 320)), new Run(false, new Piece(320, 320, 64))),
                layout.runs(false));
        assertEquals(List.of(new Run(true, new Piece(128, 128, 192)), new Run(false, new Piece(320, 320, 64))),
                layout.runs(true));
        assertEquals(new Run(true, new Piece(0, 0, 72)), layout.runOf(hidden));
    }

    @Test
    void shouldLayOutParametersOfOneKindAlone() {
        assertEquals(List.of(new Run(true, new Piece(0, 0, 192))), new BufferLayout(List.of(table)).runs(false));
        assertEquals(List.of(new Run(false, new Piece(0, 0, 64))), new BufferLayout(List.of(gamma)).runs(false));
    }

    @Test
    void shouldCutEveryBucketIntoSharesOfOneSize() {
        // Bucket 0: table 0-130, next multiple of 64 192, of 2 x 64 256. Bucket 1: matrix 256-320, gamma 320-346, bias
        // 384-449, next multiple of 2 x 64 512.
        BufferLayout layout = share(0);
        assertEquals(512, layout.elementCount());
        assertEquals(256, layout.shareElementCount());
        assertEquals(List.of(new Run(true, new Piece(0, 0, 128)), new Run(true, new Piece(256, 128, 64)),
                new Run(false, new Piece(320, 192, 64))), layout.runsOfShare());
        assertEquals(List.of(new Run(true, new Piece(128, 0, 64)), new Run(false, new Piece(384, 128, 128))),
                share(1).runsOfShare().stream().filter(run -> run.piece().first() != 192).toList());
        assertEquals(Optional.of(new Piece(0, 0, 128)), layout.shareOf(table));
        assertEquals(Optional.of(new Piece(128, 0, 2)), share(1).shareOf(table));
        assertEquals(Optional.of(new Piece(384, 128, 65)), share(1).shareOf(bias));
        assertEquals(Optional.empty(), layout.shareOf(bias));
    }

    private BufferLayout share(int rank) {
        return new BufferLayout(List.of(List.of(table), List.of(gamma, matrix, bias)),
                new DataShare(new InMemoryGroup(2).member(rank, null), Zero.WEIGHTS, Runnable::run));
    }

    @Test
    void shouldCutEachBucketByItsHolders() {
        Parameter expert = Parameter.of(matrix.spec(), matrix.slice(), false, ParameterGroup.EXPERTS);
        // Of four ranks two have the same experts: table 0-256 in four shares, expert 256-384 in two, gamma 384-640 in four.
        DataShare last = new DataShare(new InMemoryGroup(4).member(3, null), Zero.WEIGHTS, Runnable::run,
                new ExpertShare(new InMemoryGroup(2).member(1, null), new InMemoryGroup(2).member(1, null), false));
        BufferLayout layout = new BufferLayout(List.of(List.of(table), List.of(expert), List.of(gamma)), last);
        assertEquals(640, layout.elementCount());
        assertEquals(64 + 64 + 64, layout.shareElementCount());
        assertEquals(List.of(new Piece(192, 0, 64), new Piece(320, 64, 64), new Piece(576, 128, 64)),
                layout.buckets().stream().map(Bucket::share).toList());
        // A rank that alone has its experts has all of their bucket.
        DataShare alone = new DataShare(new InMemoryGroup(2).member(1, null), Zero.WEIGHTS, Runnable::run,
                new ExpertShare(new InMemoryGroup(2).member(1, null), TensorGroup.ALONE, false));
        layout = new BufferLayout(List.of(List.of(expert), List.of(gamma)), alone);
        assertEquals(List.of(new Piece(0, 0, 64), new Piece(128, 64, 64)),
                layout.buckets().stream().map(Bucket::share).toList());
        assertEquals(128, layout.shareElementCount());
    }

    private static Parameter parameter(String name, int... sizes) {
        NamedShape shape = sizes.length == 1
                ? NamedShape.of(Axis.HIDDEN, sizes[0])
                : NamedShape.of(Axis.INNER, sizes[0], Axis.HIDDEN, sizes[1]);
        ParameterSpec spec = new ParameterSpec(name, shape, new Init.Constant(0), new Split.Whole(), sizes.length == 2);
        return Parameter.of(spec, TensorSlice.whole(shape.sizes()), false);
    }
}
