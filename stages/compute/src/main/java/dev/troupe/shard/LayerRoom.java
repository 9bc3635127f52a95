package dev.troupe.shard;

import dev.troupe.engine.Shape;
import dev.troupe.layer.Parameter;
import dev.troupe.shard.BufferLayout.Bucket;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The layout of a layer's parameters in a buffer that layers use one after another.
 *
 * @param parameters the parameters that the layer uses, including parameters of another layer on the same stage
 * @param form the place and the shape of each parameter in the buffer; the same for many layers
 */
record LayerRoom(List<Parameter> parameters, List<Place> places, List<RowPosition> form, long elementCount) {
    /** The place of a bucket of one of the layouts in the buffer. */
    record Place(int layout, Bucket bucket, long first) {
    }

    /** The place of a parameter in the buffer. */
    record RowPosition(long first, Shape shape) {
    }

    /**
     * Returns the room of a layer.
     *
     * @param layouts one of which has each parameter
     */
    static LayerRoom of(List<BufferLayout> layouts, List<Parameter> parameters) {
        List<Place> places = new ArrayList<>();
        List<RowPosition> form = new ArrayList<>();
        long next = 0;
        for (Parameter parameter : parameters) {
            int index = indexOf(layouts, parameter.owner());
            BufferLayout layout = layouts.get(index);
            Bucket bucket = layout.bucketOf(parameter.owner());
            if (places.stream().noneMatch(place -> place.bucket == bucket)) {
                places.add(new Place(index, bucket, next));
                next += bucket.elementCount();
            }
            Place place = places.stream().filter(candidate -> candidate.bucket == bucket).findFirst().orElseThrow();
            form.add(
                    new RowPosition(place.first + layout.start(parameter.owner()) - bucket.first(), parameter.shape()));
        }
        return new LayerRoom(List.copyOf(parameters), List.copyOf(places), List.copyOf(form), next);
    }

    private static int indexOf(List<BufferLayout> layouts, Parameter parameter) {
        return IntStream.range(0, layouts.size()).filter(index -> layouts.get(index).has(parameter)).findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no layout has " + parameter.name()));
    }
}
