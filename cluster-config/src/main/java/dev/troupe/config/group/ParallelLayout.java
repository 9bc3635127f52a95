package dev.troupe.config.group;

import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The grid of ranks: pipeline x data x tensor, numbered tensor fastest, then data, then pipeline, as in Megatron-LM
 * (Narayanan et al. 2021). Ranks that exchange most have neighbouring numbers, and are placed near each other. If the stages
 * of one pipeline are on several ranks each, the data coordinate numbers these replicas. The experts of a model may be
 * divided among consecutive data ranks of a stage; their place among these follows from the data coordinate. Immutable.
 *
 * @param pipeline P, ranks in a pipeline, at least 1
 * @param data D, parallel pipelines, at least 1
 * @param tensor T, ranks that share a stage, at least 1
 * @param replicas the number of ranks of each place in the one pipeline, among which its microbatches rotate; empty for one
 *     each
 * @param expert R, data ranks of a stage that divide its experts, a divisor of D; 1 if each has every expert
 */
public record ParallelLayout(int pipeline, int data, int tensor, List<Integer> replicas, int expert) {

    /**
     * Checks the degrees.
     *
     * @throws LayoutException if one is below 1, or there are more ranks than an {@code int} counts
     */
    public ParallelLayout {
        requireDegree("pipeline", pipeline);
        requireDegree("data", data);
        requireDegree("tensor", tensor);
        requireDegree("expert", expert);
        if (data % expert != 0) {
            throw new LayoutException("expert = " + expert + " must divide data = " + data
                    + ", since so many data ranks have each expert once: change one of them");
        }
        replicas = List.copyOf(replicas);
        if (!replicas.isEmpty() && (replicas.size() != pipeline || data != 1
                || replicas.stream().anyMatch(count -> count < 1))) {
            throw new LayoutException("replicas must be one number of 1 or more for each of the " + pipeline
                    + " stages of one pipeline, but found " + replicas + " with data = " + data);
        }
        if ((double) pipeline * data * tensor > Integer.MAX_VALUE) {
            throw new LayoutException(String.format(Locale.ROOT,
                    "pipeline x data x tensor must be at most %d ranks, but %d x %d x %d are more: take fewer",
                    Integer.MAX_VALUE, pipeline, data, tensor));
        }
    }

    /** Creates a layout without replicas: each place in a pipeline is one rank, or a group of ranks that share a stage. */
    public ParallelLayout(int pipeline, int data, int tensor) {
        this(pipeline, data, tensor, List.of(), 1);
    }

    /** Returns the same ranks, of which {@code degree} consecutive data ranks of a stage divide its experts. */
    public ParallelLayout dividingExperts(int degree) {
        return new ParallelLayout(pipeline, data, tensor, replicas, degree);
    }

    private static void requireDegree(String name, int degree) {
        if (degree < 1) {
            throw new LayoutException(
                    name + " must be 1 or more, but found " + degree + ": a degree of 1 leaves it out");
        }
    }

    /**
     * Returns the layout of a world; its remaining ranks are parallel pipelines.
     *
     * @param world the number of ranks, at least 1
     * @throws LayoutException if a number is below 1 or the world is no multiple of pipeline x tensor
     */
    public static ParallelLayout filling(int world, int pipeline, int tensor) {
        if (world < 1) {
            throw new LayoutException("a world must have 1 rank or more, but found " + world);
        }
        int model = new ParallelLayout(pipeline, 1, tensor).worldSize();
        if (world % model != 0) {
            long below = (long) world / model * model;
            throw new LayoutException(String.format(Locale.ROOT,
                    "a world of %s is not filled by pipeline x tensor = %d x %d = %d, whatever data is: make the world %s",
                    ranks(world), pipeline, tensor, model, (below == 0 ? "" : below + " or ") + (below + model)));
        }
        return new ParallelLayout(pipeline, world / model, tensor);
    }

    /**
     * Checks that a number of ranks fills the layout.
     *
     * @throws LayoutException if there are more or fewer
     */
    public void requireFilledBy(int world) {
        if (world != worldSize()) {
            throw new LayoutException(String.format(Locale.ROOT,
                    "a world of %s is not filled by pipeline x data x tensor = %d x %d x %d = %d: make the world %5$d, "
                            + "or change a degree",
                    ranks(world), pipeline, data, tensor, worldSize()));
        }
    }

    private static String ranks(int count) {
        return count == 1 ? "1 rank" : count + " ranks";
    }

    /** Returns the world size: P x D x T, or T times the replicas of all stages. */
    public int worldSize() {
        return before(pipeline) * tensor;
    }

    /** Returns the number of ranks with the same part of the weights at a place of the pipeline: D, or its replicas. */
    public int holders(int place) {
        return replicas.isEmpty() ? data : replicas.get(place);
    }

    /** Returns the number of groups that share a stage before a place of the pipeline. */
    private int before(int place) {
        return replicas.isEmpty()
                ? place * data
                : replicas.subList(0, place).stream().mapToInt(Integer::intValue).sum();
    }

    /**
     * Returns the coordinates of a rank.
     *
     * @throws IndexOutOfBoundsException if the world has no such rank
     */
    public Coordinates coordinates(int rank) {
        Objects.checkIndex(rank, worldSize());
        int group = rank / tensor; // rounded down
        int place = replicas.isEmpty() ? group / data : 0;
        while (group >= before(place + 1)) {
            place++;
        }
        return new Coordinates(place, group - before(place), rank % tensor);
    }

    /**
     * Returns the rank at these coordinates.
     *
     * @throws IndexOutOfBoundsException if no rank has these coordinates
     */
    public int rank(Coordinates at) {
        Objects.checkIndex(at.pipeline(), pipeline);
        Objects.checkIndex(at.data(), holders(at.pipeline()));
        Objects.checkIndex(at.tensor(), tensor);
        return (before(at.pipeline()) + at.data()) * tensor + at.tensor();
    }

    /** Returns the kinds of groups with collectives of tensors. */
    public List<GroupKind> collectiveKinds() {
        return expert == 1
                ? List.of(GroupKind.TENSOR, GroupKind.DATA)
                : List.of(GroupKind.TENSOR, GroupKind.DATA, GroupKind.EXPERT, GroupKind.EXPERT_DATA);
    }

    /** Returns every group of a kind, ordered by their first ranks; the ranks of each are in ascending order. */
    public List<List<Integer>> groups(GroupKind kind) {
        return switch (kind) {
            case TENSOR -> groupsBy(at -> new Coordinates(at.pipeline(), at.data(), 0), all());
            case PIPELINE -> groupsBy(at -> new Coordinates(0, pipelineOf(at), at.tensor()), all());
            case DATA -> groupsBy(at -> new Coordinates(at.pipeline(), 0, at.tensor()), all());
            case EXPERT -> groupsBy(at -> new Coordinates(at.pipeline(), at.data() - at.data() % expert, at.tensor()),
                    all());
            case EXPERT_DATA -> groupsBy(at -> new Coordinates(at.pipeline(), at.data() % expert, at.tensor()), all());
            case MODEL -> groupsBy(at -> new Coordinates(0, pipelineOf(at), 0), all());
            case EMBEDDING -> groupsBy(at -> new Coordinates(0, pipelineOf(at), at.tensor()),
                    all().filter(rank -> isFirst(rank) || coordinates(rank).pipeline() == pipeline - 1));
            case POSITION_EMBEDDING -> groupsBy(Function.identity(), all().filter(this::isFirst));
        };
    }

    /** Returns the pipeline of a rank; all replicas belong to the same one. */
    private int pipelineOf(Coordinates at) {
        return replicas.isEmpty() ? at.data() : 0;
    }

    private IntStream all() {
        return IntStream.range(0, worldSize());
    }

    private boolean isFirst(int rank) {
        return coordinates(rank).pipeline() == 0;
    }

    /** Returns the ranks in groups by a key: the coordinates that the ranks of a group share, with 0 for the others. */
    private List<List<Integer>> groupsBy(Function<Coordinates, Coordinates> shared, IntStream members) {
        return List.copyOf(members.boxed().collect(Collectors.groupingBy(
                rank -> rank(shared.apply(coordinates(rank))), TreeMap::new, Collectors.toUnmodifiableList()))
                .values());
    }

    /**
     * Returns the group of a kind that a rank is in; the rank's index in the list is its member number. Empty if the rank
     * is in no group of the kind.
     *
     * @throws IndexOutOfBoundsException if the world has no such rank
     */
    public List<Integer> group(GroupKind kind, int rank) {
        Objects.checkIndex(rank, worldSize());
        return groups(kind).stream().filter(group -> group.contains(rank)).findFirst().orElse(List.of());
    }
}
