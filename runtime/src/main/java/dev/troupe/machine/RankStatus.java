package dev.troupe.machine;

/**
 * What a rank says of itself when the coordinator asks.
 *
 * @param rank
 *            the rank
 * @param moves
 *            how many events it has taken in; it grows whenever the rank moves
 * @param isWorking
 *            whether it computes, loads or writes; if not, only a message from elsewhere can move it on
 * @param situation
 *            what it does or waits for, for a person
 */
public record RankStatus(int rank, long moves, boolean isWorking, String situation) {
}
