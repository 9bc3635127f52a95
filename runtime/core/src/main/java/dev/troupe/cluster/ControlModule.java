package dev.troupe.cluster;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.databind.jsontype.NamedType;
import com.fasterxml.jackson.databind.module.SimpleModule;
import dev.troupe.protocol.MicrobatchLoss;
import dev.troupe.protocol.checkpoint.CheckpointEvent;
import dev.troupe.protocol.node.NodeEvent;
import dev.troupe.protocol.run.LayerSquaredSum;
import dev.troupe.protocol.run.RunEvent;
import java.util.List;

/** The serialization of control messages with parts of sealed types: by the name of the record, not of its class. */
public final class ControlModule extends SimpleModule {
    private static final long serialVersionUID = 1;

    /** Pekko's serialization finds this class through its configuration. */
    public ControlModule() {
        super("troupe-control");
        for (Class<?> family : List.of(RunEvent.class, CheckpointEvent.class, NodeEvent.class,
                NodeEvent.Order.class)) {
            setMixInAnnotation(family, Named.class);
            registerAll(family);
        }
        // A message has one of these for every microbatch or layer of a step, so they are written without the names of
        // their parts.
        setMixInAnnotation(MicrobatchLoss.class, Packed.class);
        setMixInAnnotation(LayerSquaredSum.class, Packed.class);
    }

    private void registerAll(Class<?> family) {
        for (Class<?> event : family.getPermittedSubclasses()) {
            if (event.isSealed()) {
                registerAll(event);
            } else {
                registerSubtypes(new NamedType(event, event.getSimpleName()));
            }
        }
    }

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "event")
    private interface Named {
    }

    @JsonFormat(shape = JsonFormat.Shape.ARRAY)
    private interface Packed {
    }
}
