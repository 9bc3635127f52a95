import dev.troupe.Checkpoint;
import dev.troupe.TrainingListener;
import dev.troupe.TrainingSpec;
import dev.troupe.Troupe;
import java.nio.file.Path;

/** Prints the parameters of a checkpoint and their norms: of the run or checkpoint that is named, or of one of two steps. */
class ReadACheckpoint {
    public static void main(String[] arguments) throws InterruptedException {
        Path run = arguments.length > 0 ? Path.of(arguments[0]) : trained();
        try (Checkpoint checkpoint = Checkpoint.open(run)) {
            System.out.printf("%s after %d steps: %s%n", checkpoint.directory(), checkpoint.stepsDone(),
                    checkpoint.model());
            for (String name : checkpoint.names()) {
                double squares = 0;
                for (float value : checkpoint.floats(name)) {
                    squares += (double) value * value;
                }
                System.out.printf("%-40s %-12s norm %.4f%n", name, checkpoint.shape(name), Math.sqrt(squares));
            }
        }
    }

    private static Path trained() throws InterruptedException {
        TrainingSpec spec = TrainingSpec.builder().name("read").stages(2).steps(2).batch(4, 2)
                .set("model.layers", 2).set("model.hidden", 32).set("model.sequence-length", 32).build();
        return Troupe.train(spec, TrainingListener.NONE).directory();
    }
}
