import dev.troupe.TrainingData;
import dev.troupe.TrainingResult;
import dev.troupe.TrainingSpec;
import dev.troupe.Troupe;
import java.nio.file.Files;
import java.nio.file.Path;

/** Trains a small model on a text. */
class TrainFromText {
    public static void main(String[] arguments) throws Exception {
        TrainingSpec spec = TrainingSpec.builder().stages(2).steps(20).batch(8, 2)
                .set("model.layers", 2).set("model.hidden", 32).set("model.sequence-length", 32).build();
        TrainingData text = TrainingData.ofText(Files.readString(Path.of(arguments[0])));
        TrainingResult result = Troupe.train(spec, text,
                step -> System.out.printf("step %d: loss %.3f%n", step.step(), step.loss()));
        System.out.println("The model is in " + result.model().orElseThrow());
    }
}
