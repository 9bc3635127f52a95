package dev.troupe.bench.collective;

import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Membership;
import dev.troupe.collective.peer.PeerCollectives;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.IntStream;

/** A process of a group between JVMs; member 0's process prints a line for each measurement, as Gloo's script does. */
public final class GroupPeer {
    private static final Duration DEADLINE = Duration.ofMinutes(2);

    private GroupPeer() {
    }

    /** Measures as one member; the arguments are the driver's directory, the number of members, and the member. */
    public static void main(String[] arguments) {
        int size = Integer.parseInt(arguments[1]);
        int member = Integer.parseInt(arguments[2]);
        Membership membership = new Membership("bench", IntStream.range(0, size).boxed().toList(), DEADLINE);
        try (PeerCollectives collectives = PeerCollectives.connect(Path.of(arguments[0]));
                CollectiveGroup group = collectives.join(membership, size, member, 0)) {
            GroupTimes.measure(group, (what, seconds) -> {
                if (member == 0) {
                    System.out.println("measured " + what.collective() + " " + what.members() + " " + what.bytes() + " "
                            + seconds);
                }
            });
        }
    }
}
