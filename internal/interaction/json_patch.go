package interaction

import (
	"errors"
	"mime"
	"strconv"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"starling/internal/fhir"
	"starling/internal/fhir/element"
)

// jsonPatchType is the format of patches that are served
// (https://www.rfc-editor.org/rfc/rfc6902).
const jsonPatchType = "application/json-patch+json"

// maxCopied is the most bytes the copy operations of a patch may add.
const maxCopied = 16 << 20

// readPatch reads the patch of a request.
func (s *Service) readPatch(request *Request) (jsonpatch.Patch, error) {
	if media, _, err := mime.ParseMediaType(request.ContentType); err != nil || media != jsonPatchType {
		return nil, fhir.NewError(fhir.KindUnsupportedMedia, fhir.IssueNotSupported,
			"A patch of type "+quote(request.ContentType)+" is not served; "+jsonPatchType+" is.")
	}
	tree, err := element.Parse(request.Body, s.limits())
	if err != nil {
		return nil, syntaxFailure(err)
	}
	if err := checkPatch(tree.Root()); err != nil {
		return nil, err
	}
	patch, err := jsonpatch.DecodePatch(request.Body)
	if err != nil {
		return nil, fhir.NewError(fhir.KindInvalid, fhir.IssueStructure, "The patch is not well formed.").Because(err)
	}
	return patch, nil
}

// checkPatch refuses what is no list of operations.
func checkPatch(root element.Node) error {
	if root.Kind() != element.Array {
		return fhir.NewError(fhir.KindInvalid, fhir.IssueStructure, "A JSON Patch has to be an array of operations.")
	}
	number := 0
	for operation := range root.Children() {
		if fault := operationFault(operation); fault != "" {
			return fhir.NewError(fhir.KindInvalid, fhir.IssueStructure, "Operation "+strconv.Itoa(number)+" of the patch "+fault+".")
		}
		number++
	}
	return nil
}

func operationFault(operation element.Node) string {
	needed := ""
	switch op := operation.Get("op"); op.Str() {
	case "add", "replace", "test":
		needed = "value"
	case "move", "copy":
		if !isPointer(operation.Get("from")) {
			return "needs a JSON Pointer in from"
		}
	case "remove":
	default:
		return "has no op that is add, remove, replace, move, copy or test"
	}
	switch {
	case !isPointer(operation.Get("path")):
		return "needs a JSON Pointer in path"
	case needed != "" && !operation.Get(needed).Exists():
		return "needs a value"
	}
	return ""
}

// isPointer reports whether a node is a JSON Pointer
// (https://www.rfc-editor.org/rfc/rfc6901).
func isPointer(node element.Node) bool {
	text := node.Str()
	return node.Kind() == element.String && (text == "" || text[0] == '/') &&
		strings.Count(text, "~") == strings.Count(text, "~0")+strings.Count(text, "~1")
}

// applyPatch gives the text of a resource after a patch. A patch that does not
// fit what is stored is a conflict.
func applyPatch(current *fhir.Resource, patch jsonpatch.Patch) ([]byte, error) {
	patched, err := patch.ApplyWithOptions(current.AppendJSON(nil), &jsonpatch.ApplyOptions{AccumulatedCopySizeLimit: maxCopied})
	var tooMuch *jsonpatch.AccumulatedCopySizeError
	switch {
	case err == nil:
		return patched, nil
	case errors.As(err, &tooMuch):
		return nil, fhir.NewError(fhir.KindTooLarge, fhir.IssueTooCostly, "The patch copies too much.")
	case errors.Is(err, jsonpatch.ErrTestFailed):
		return nil, fhir.NewError(fhir.KindConflict, fhir.IssueConflict, "A test of the patch failed on version "+
			strconv.FormatInt(current.VersionID, 10)+" of "+current.Key.String()+".").Because(err)
	}
	return nil, fhir.NewError(fhir.KindConflict, fhir.IssueConflict,
		"The patch does not fit version "+strconv.FormatInt(current.VersionID, 10)+" of "+current.Key.String()+".").Because(err)
}
