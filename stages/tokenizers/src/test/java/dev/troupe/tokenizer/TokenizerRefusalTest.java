package dev.troupe.tokenizer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.tokenizer.file.TokenizerException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Unknown parts of a tokenizer.json are refused in a sentence that names the file and the part. */
@Tag("plan")
class TokenizerRefusalTest {
    private static final JsonMapper JSON = new JsonMapper();

    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource(delimiter = '!', quoteCharacter = '`', value = {
            "/normalizer!{'type': 'Lowercase'}!normalizer.type must be NFC or NFD or NFKC or NFKD or Sequence, which is all that is supported, but found \"Lowercase\"",
            "/normalizer!{'type': 'Sequence', 'normalizers': [{'type': 'Replace'}]}!normalizer.normalizers[0].type must be",
            "/pre_tokenizer!null!pre_tokenizer is not there; only byte-level tokenizers are supported",
            "/pre_tokenizer!{'type': 'Metaspace'}!pre_tokenizer.type must be ByteLevel or Digits or Sequence or Split",
            "/pre_tokenizer!{'type': 'Digits'}!pre_tokenizer must have ByteLevel as its last step, and nowhere else",
            "/pre_tokenizer!{'type': 'Sequence', 'pretokenizers': [{'type': 'Split', 'pattern': {'Regex': 'a(?<=b)'}, 'behavior': 'Isolated'}, {'type': 'ByteLevel'}]}!pre_tokenizer.pretokenizers[0].pattern.Regex is an expression that is not supported: it has a group that is not known at character 1",
            "/pre_tokenizer!{'type': 'Sequence', 'pretokenizers': [{'type': 'Split', 'pattern': {'Regex': 'a*'}, 'behavior': 'Isolated'}, {'type': 'ByteLevel'}]}!is not supported: it matches text of no character",
            "/pre_tokenizer!{'type': 'Sequence', 'pretokenizers': [{'type': 'Split', 'pattern': {'Regex': '[a-'}, 'behavior': 'Isolated'}, {'type': 'ByteLevel'}]}!is not supported: a [ has no ]",
            "/pre_tokenizer!{'type': 'Sequence', 'pretokenizers': [{'type': 'Split', 'pattern': {'String': 'a'}, 'behavior': 'MergedWithNext'}, {'type': 'ByteLevel'}]}!pre_tokenizer.pretokenizers[0].behavior must be Isolated or Removed, which is all that is supported, but found \"MergedWithNext\"",
            "/post_processor!{'type': 'BertProcessing'}!post_processor.type must be ByteLevel or Sequence or TemplateProcessing",
            "/post_processor!{'type': 'TemplateProcessing', 'single': []}!post_processor.single must have the sequence A once",
            "/decoder!{'type': 'WordPiece'}!decoder.type must be ByteLevel or Sequence or Fuse",
            "/decoder!null!decoder.type must be ByteLevel or Sequence or Fuse, which is all that is supported, but found nothing",
            "/model/type!'Unigram'!model.type must be BPE, which is all that is supported, but found \"Unigram\"",
            "/model/byte_fallback!true!model.byte_fallback is not supported",
            "/model/dropout!0.1!model.dropout is not supported",
            "/model/continuing_subword_prefix!'##'!model.continuing_subword_prefix is not supported",
            "/model/unk_token!'<unk>'!model.unk_token names the token \"<unk>\", which model.vocab does not have",
            "/model/merges!['a b c']!model.merges[0] must be two tokens with a space between them",
            "/model/merges![['a', 'b', 'c']]!model.merges[0] must be two tokens",
            "/model/merges![['a', 'XYZ']]!model.merges[0] names the token \"aXYZ\", which model.vocab does not have",
            "/model/merges!7!model.merges must be a list or an object, but found 7",
            "/model/vocab!{'a': -1}!model.vocab.a must be a token's id, a whole number from 0 to 16777215, but found -1",
            "/model/ignore_merges!'yes'!model.ignore_merges must be true or false, but found \"yes\"",
            "/added_tokens![{'id': 5, 'content': 'a'}]!added_tokens[0] gives \"a\" the id 5, but model.vocab has 64",
            "/added_tokens![{'content': 'x'}]!added_tokens[0].id must be a token's id",
            "/added_tokens!{}!added_tokens must be a list, but found {}"})
    void shouldNameTheFileAndThePart(String place, String value, String sentence) throws IOException {
        ObjectNode file = (ObjectNode) JSON.readTree(Forms.directory("gpt2").resolve("tokenizer.json").toFile());
        int last = place.lastIndexOf('/');
        JsonNode parent = last == 0 ? file : file.at(place.substring(0, last));
        ((ObjectNode) parent).set(place.substring(last + 1), JSON.readTree(value.replace('\'', '"')));
        Path target = Files.writeString(directory.resolve("tokenizer.json"), JSON.writeValueAsString(file));
        String refusal = refusal();
        assertTrue(refusal.startsWith(target + ": "), refusal);
        assertTrue(refusal.contains(sentence), refusal);
    }

    @Test
    void shouldNameTheLineOfWhatIsNoJson() throws IOException {
        Path file = Files.writeString(directory.resolve("tokenizer.json"), "{\n  \"version\": 1,\n  oops\n}");
        String refusal = refusal();
        assertTrue(refusal.startsWith(file + " is no JSON: line 3, column "), refusal);
        Files.writeString(file, "[]");
        assertEquals(file + " must be a JSON object, but found []", refusal());
    }

    @Test
    void shouldRefuseAnEndOfTextThatIsNoToken() throws IOException {
        Files.copy(Forms.directory("gpt2").resolve("tokenizer.json"), directory.resolve("tokenizer.json"));
        Path settings = Files.writeString(directory.resolve("tokenizer_config.json"), "{\"eos_token\": \"</s>\"}");
        assertEquals(settings + ": eos_token is \"</s>\", which tokenizer.json next to it does not have", refusal());
    }

    private String refusal() {
        return assertThrows(TokenizerException.class, () -> Tokenizer.named(directory.toString())).getMessage();
    }
}
