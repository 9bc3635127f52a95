package dev.troupe.run.cluster;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.databind.jsontype.NamedType;
import com.fasterxml.jackson.databind.module.SimpleModule;
import dev.troupe.protocol.ExpertMeasures;
import dev.troupe.protocol.MicrobatchLoss;
import dev.troupe.protocol.checkpoint.CheckpointEvent;
import dev.troupe.protocol.node.NodeEvent;
import dev.troupe.protocol.run.LayerSquaredSum;
import dev.troupe.protocol.run.RunEvent;
import java.util.List;
import java.util.stream.Stream;

/** The serialization of control messages with parts of sealed types. A part is named after its record, not its class. */
public final class ControlModule extends SimpleModule {
    private static final long serialVersionUID = 1;

    /** The constructor for Pekko, which finds this class through its configuration. */
    public ControlModule() {
        super("troupe-control");
        for (Class<?> family : List.of(RunEvent.class, CheckpointEvent.class, NodeEvent.class,
                NodeEvent.Order.class)) {
            setMixInAnnotation(family, Named.class);
            records(family).forEach(event -> registerSubtypes(new NamedType(event, event.getSimpleName())));
        }
        // A message has one of these for every microbatch or layer of a step, so they are written without the names of their
        // parts.
        setMixInAnnotation(MicrobatchLoss.class, Packed.class);
        setMixInAnnotation(ExpertMeasures.class, Packed.class);
        setMixInAnnotation(LayerSquaredSum.class, Packed.class);
    }

    /** Returns the class names of the accepted messages: the protocols of the three actors. */
    static List<String> messages() {
        return Stream.of("TrainingCoordinator", "NodeActor", "ScheduleActor")
                .map(actor -> "dev.troupe.run.actor." + actor + "$Command").map(ControlModule::protocol)
                .flatMap(ControlModule::records).map(Class::getName).toList();
    }

    private static Class<?> protocol(String name) {
        try {
            return Class.forName(name); // that of stages is of its package alone
        } catch (ClassNotFoundException absent) {
            throw new IllegalStateException(absent);
        }
    }

    private static Stream<Class<?>> records(Class<?> family) {
        return family.isSealed()
                ? Stream.of(family.getPermittedSubclasses()).flatMap(ControlModule::records)
                : Stream.of(family);
    }

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "event")
    private interface Named {
    }

    @JsonFormat(shape = JsonFormat.Shape.ARRAY)
    private interface Packed {
    }
}
