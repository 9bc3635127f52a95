package dev.troupe.look.publish;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.model.ModelSpec;
import dev.troupe.model.spec.ParameterSpec;
import dev.troupe.plan.checkpoint.Checkpoint;
import dev.troupe.plan.checkpoint.DiskRoom;
import dev.troupe.plan.checkpoint.RunConfig;
import dev.troupe.tokenizer.file.FileReason;
import dev.troupe.weights.NamedTensor;
import dev.troupe.weights.WeightException;
import dev.troupe.weights.WeightSource;
import dev.troupe.weights.gguf.GgufFile;
import dev.troupe.weights.gguf.GgufType;
import dev.troupe.weights.gguf.GgufVocabulary;
import dev.troupe.weights.huggingface.HuggingFaceWriter;
import dev.troupe.weights.peft.PeftAdapter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** The writer of models and adapters for other programs, one tensor at a time. Thread rule: any thread. */
public final class ModelExport {
    private static final String GGUF = "model.gguf";

    private ModelExport() {
    }

    /**
     * Writes a model in Hugging Face layout.
     *
     * @param type of the written weights: FLOAT32, FLOAT64, or BFLOAT16, to which float32 is rounded
     * @param shardBytes the maximum bytes of tensors in a file
     * @param companions the directory of the files to copy next to the weights
     * @throws dev.troupe.plan.checkpoint.CheckpointException if the disk has no room
     * @throws WeightException if the files cannot be written
     */
    public static void huggingFace(ModelSpec model, WeightSource weights, DataType type, Path directory,
            long shardBytes, Optional<Path> companions) {
        List<NamedTensor> tensors = tensors(model.parameters().values(), weights, type);
        DiskRoom.requireForModel(directory, tensors.stream().mapToLong(NamedTensor::byteCount).sum());
        HuggingFaceWriter.write(directory, model, tensors, shardBytes, companions);
    }

    /**
     * Writes a model as one file of llama.cpp's format, {@code model.gguf}.
     *
     * @param directory created if it does not exist
     * @param tokenizer the directory of the tokenizer, which is included in the file
     * @param name the name of the model for people
     * @throws dev.troupe.tokenizer.file.TokenizerException if llama.cpp does not support the tokenizer, or the model does
     *     not know all its tokens
     * @throws dev.troupe.plan.checkpoint.CheckpointException if the disk has no room
     * @throws WeightException if llama.cpp does not support the model, or the file cannot be written
     */
    public static void gguf(ModelSpec model, WeightSource weights, GgufType type, Path directory, Path tokenizer,
            String name) {
        GgufFile file = GgufFile.of(model, type, GgufVocabulary.read(tokenizer), name);
        DiskRoom.requireForModel(directory, file.byteCount());
        try {
            Files.createDirectories(directory);
        } catch (IOException failure) {
            throw new WeightException("cannot make the directory " + directory + ": " + FileReason.of(failure),
                    failure);
        }
        file.write(directory.resolve(GGUF), weights);
    }

    /**
     * Writes the adapters of a checkpoint in PEFT's layout.
     *
     * @param base the base model by the name that PEFT is to use; empty if it is not known
     * @param dropout the probability of the run, which PEFT records too
     * @throws WeightException if the files cannot be written
     */
    public static void adapters(Checkpoint weights, Path directory, Optional<String> base, double dropout) {
        List<NamedTensor> tensors = tensors(PeftAdapter.trained(weights.model()), weights, weights.parameterType());
        PeftAdapter.write(directory, weights.model(), base, dropout, tensors);
    }

    /** As {@link #adapters(Checkpoint, Path, Optional, double)}, with the values of the run's configuration. */
    public static void adapters(Checkpoint weights, Path directory) {
        RunConfig config = RunConfig.in(Checkpoint.runDirectoryOf(weights.directory()));
        String dropout = config.text("training.lora.dropout");
        adapters(weights, directory, config.modelFrom().map(Path::toString),
                dropout.isEmpty() ? 0 : Double.parseDouble(dropout));
    }

    private static List<NamedTensor> tensors(Collection<ParameterSpec> parameters, WeightSource weights,
            DataType type) {
        return parameters.stream().map(parameter -> tensor(weights, parameter, type)).toList();
    }

    private static NamedTensor tensor(WeightSource weights, ParameterSpec parameter, DataType type) {
        Shape shape = parameter.shape().sizes();
        DataType read = type == DataType.BFLOAT16 ? DataType.FLOAT32 : type;
        NamedTensor tensor = new NamedTensor(parameter.name(), shape, read,
                target -> weights.read(parameter.name(), shape, read, target));
        return type == DataType.BFLOAT16 ? tensor.inBfloat16() : tensor;
    }
}
