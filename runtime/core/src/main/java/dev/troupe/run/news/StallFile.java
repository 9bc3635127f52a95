package dev.troupe.run.news;

import dev.troupe.plan.TrainingPlan;
import dev.troupe.protocol.watch.StallWatch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The file with the drawing of a stalled run, in the run's directory. */
final class StallFile {
    private static final Logger LOG = LoggerFactory.getLogger(StallFile.class);

    private StallFile() {
    }

    /**
     * Writes the file; a full disk has no effect on the run.
     *
     * @return a sentence on the stall, with the name of the file
     */
    static String write(Path directory, TrainingPlan plan, int epoch, long stepsDone, StallWatch.Stall stall) {
        Path file = directory.resolve("hang-step-" + stepsDone + "-epoch-" + epoch + ".txt");
        try {
            Files.writeString(file, StallDrawing.draw(plan, stall));
        } catch (IOException unwritten) { // the run can recover without it
            LOG.warn("{} could not be written", file, unwritten);
            return stall.sentence();
        }
        String sentence = stall.sentence() + "; " + file.getFileName() + " shows where every rank was";
        EventLog.ofRun(epoch, stepsDone, sentence);
        return sentence;
    }
}
