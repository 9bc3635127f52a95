package dev.troupe.actor;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.transport.MessageId;

/** Messages of the wire as actions of the plan. */
final class Edges {
    private Edges() {
    }

    /** The receive that a landed activation or gradient fulfils. */
    static Action receive(MessageId id) {
        Kind kind = switch (id.edge().kind()) {
            case ACTIVATION -> Kind.RECV_F;
            case GRADIENT -> Kind.RECV_B;
            case TIED_GRADIENT -> throw new IllegalArgumentException("no action of a plan receives " + id);
        };
        return new Action(id.edge().stage(), kind, id.microbatch());
    }
}
