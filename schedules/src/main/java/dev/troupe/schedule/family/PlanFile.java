package dev.troupe.schedule.family;

import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import dev.troupe.schedule.Schedule;
import dev.troupe.schedule.lowering.RemoveTransfers;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * A user's plan in place of a schedule: a CSV file as PyTorch writes it, one line a rank, with or without communication. The
 * placement follows from the file; it must be LOOP or V.
 *
 * @param path the file; its text is read when a plan is asked for
 */
public record PlanFile(Path path) implements Schedule {
    /** The largest plans that a run can have are half as long. */
    private static final long MOST_BYTES = 1 << 27;

    @Override
    public String name() {
        return path.toString();
    }

    /**
     * Returns the plan in the file, whatever its sizes.
     *
     * @throws PlanException if the file cannot be read, or is no plan; the message names the place
     */
    public Plan plan() {
        if (Files.exists(path) && !Files.isRegularFile(path)) { // a pipe may never end
            throw new PlanException("The plan file \"" + path + "\" is no regular file: save it as one.");
        }
        try {
            if (Files.exists(path) && Files.size(path) > MOST_BYTES) {
                throw new PlanException("The plan file \"" + path + "\" has " + Files.size(path)
                        + " bytes, but a plan has at most " + MOST_BYTES + ": take a smaller one.");
            }
            return new RemoveTransfers().apply(Plan.fromCsv(name(), Files.readString(path, StandardCharsets.UTF_8)));
        } catch (NoSuchFileException e) {
            throw new PlanException("There is no plan file \"" + path + "\": give the path of a CSV file, or one of "
                    + String.join(", ", Schedules.names()) + ".");
        } catch (CharacterCodingException e) {
            throw new PlanException("The plan file \"" + path + "\" is not UTF-8 text: save it as such.");
        } catch (AccessDeniedException e) {
            throw new PlanException("The plan file \"" + path + "\" cannot be read: permission denied.");
        } catch (IOException e) {
            throw new PlanException("The plan file \"" + path + "\" cannot be read: " + e.getMessage() + ".");
        }
    }

    @Override
    public int usualVirtualStages() {
        return plan().virtualStages();
    }

    /**
     * Returns the plan of one step in the file.
     * @throws PlanException if it has other sizes or overlapping steps
     */
    @Override
    public Plan plan(int pipeline, int virtualStages, int microbatches) {
        Plan plan = ofSizes(pipeline, virtualStages, microbatches);
        if (plan.overlapsSteps()) {
            throw new PlanException("The plan file \"" + path
                    + "\" names versions of the weights or the steps of updates,"
                    + " so that steps overlap, but a run overlaps steps by a rule alone: ./troupe schedule draws and certifies"
                    + " it; to train, take those names out, or pipedream-2bw.");
        }
        return plan;
    }

    /**
     * Returns the plan in the file, with any number of steps.
     * @throws PlanException if it has other sizes
     */
    public Plan ofSizes(int pipeline, int virtualStages, int microbatches) {
        Plan plan = plan();
        if (plan.rankCount() != pipeline || plan.virtualStages() != virtualStages
                || plan.microbatchesPerStep() != microbatches) {
            throw new PlanException("The plan file \"" + path + "\" is for " + sizes(plan.rankCount(),
                    plan.virtualStages(), plan.microbatchesPerStep()) + ", but was asked for "
                    + sizes(pipeline, virtualStages, microbatches) + ": ask for what the file has.");
        }
        return plan;
    }

    private static String sizes(int pipeline, int virtualStages, int microbatches) {
        return "P = " + pipeline + ", V = " + virtualStages + ", M = " + microbatches;
    }
}
