package interaction

import (
	"context"
	"slices"
	"strings"
	"sync"

	"starling/internal/fhir"
	"starling/internal/fhir/definition"
)

// operation is an operation that is served
// (https://hl7.org/fhir/R4/operations.html). Its definition says its code, the
// levels and types at which it is, and whether it changes anything.
type operation struct {
	*definition.Operation
	// body names the parameter that a resource stands for if it is sent by
	// itself rather than in Parameters.
	body string
	// more are parameters that it takes beyond those of its definition.
	more []string
	// search says that search parameters are parameters of the operation, too.
	search bool
	// operators says that it is for operators, and rests on no cache.
	operators bool
	run       func(s *Service, ctx context.Context, c *call) (*Response, error)
}

// served lists the operations by the canonicals of their definitions,
// servedOfTerminology those that need Service.Terminology.
var (
	served = map[string]operation{
		operationBase + "Resource-validate":    {body: "resource", run: (*Service).validate},
		operationBase + "Patient-everything":   {run: (*Service).everything},
		operationBase + "Encounter-everything": {more: []string{"start", "end"}, run: (*Service).everything},
		operationBase + "Observation-lastn":    {search: true, run: (*Service).lastN},
	}
	servedOfTerminology = map[string]operation{
		operationBase + "ValueSet-expand":          {body: "valueSet", run: ofTerminology((*Service).expand)},
		operationBase + "ValueSet-validate-code":   {body: "valueSet", more: versionParameters, run: ofTerminology((*Service).validateCode)},
		operationBase + "CodeSystem-validate-code": {body: "codeSystem", run: ofTerminology((*Service).validateCodeOfSystem)},
		operationBase + "CodeSystem-lookup":        {run: ofTerminology((*Service).lookup)},
		operationBase + "CodeSystem-subsumes":      {run: ofTerminology((*Service).subsumes)},
		operationBase + "ConceptMap-translate":     {body: "conceptMap", run: ofTerminology((*Service).translate)},
	}
)

const operationBase = "http://hl7.org/fhir/OperationDefinition/"

// operations finds the operations of a service, by code.
type operations struct {
	once   sync.Once
	byCode map[string][]*operation
	all    []*operation // that the CapabilityStatement names, sorted by code
}

func (s *Service) findOperations() *operations {
	o := &s.operations
	o.once.Do(func() {
		o.byCode = map[string][]*operation{}
		for _, defined := range s.Definitions.Operations() {
			found, ok := served[defined.URL]
			if !ok && s.Terminology != nil {
				found, ok = servedOfTerminology[defined.URL]
			}
			if ok {
				found.Operation = defined
				o.byCode[defined.Code] = append(o.byCode[defined.Code], &found)
				o.all = append(o.all, &found)
			}
		}
		if s.Cluster != nil {
			found := &operation{Operation: cacheStatusDefinition, operators: true, run: (*Service).cacheStatus}
			o.byCode[found.Code] = append(o.byCode[found.Code], found)
			if s.Operators {
				o.all = append(o.all, found)
			}
		}
		slices.SortStableFunc(o.all, func(a, b *operation) int { return strings.Compare(a.Code, b.Code) })
	})
	return o
}

// of reports whether the operation is one of resources of type t.
func (o *operation) of(t fhir.ResourceType) bool {
	return slices.Contains(o.Resource, t) || slices.Contains(o.Resource, "Resource")
}

// at reports whether the operation can be called there: of the whole system
// with t empty, of a type with id empty.
func (o *operation) at(t fhir.ResourceType, id string) bool {
	switch {
	case t == "":
		return o.System
	case !o.of(t):
		return false
	case id == "":
		return o.Type
	}
	return o.Instance
}

// operationsAt lists what a CapabilityStatement names for a type, or with t
// empty for the system.
func (s *Service) operationsAt(t fhir.ResourceType) []*operation {
	var all []*operation
	for _, o := range s.findOperations().all {
		if t == "" && o.System || t != "" && o.of(t) && (o.Type || o.Instance) {
			all = append(all, o)
		}
	}
	return all
}

// placeOperation finds the operation that a URL names, and its methods.
func (s *Service) placeOperation(request *Request, code string) ([]choice, error) {
	request.Operation = code
	all := s.findOperations().byCode[code]
	for _, o := range all {
		if o.at(request.Type, request.ID) {
			request.operation = o
			if o.AffectsState {
				return atChangingOperation, nil
			}
			return atOperation, nil
		}
	}
	where := "The operation " + quote("$"+code) + " is not served "
	switch {
	case len(all) == 0:
		where += "here."
	case request.Type == "":
		where += "for the whole system."
	case request.ID == "":
		where += "for the type " + string(request.Type) + "."
	default:
		where += "for a single " + string(request.Type) + "."
	}
	return nil, fhir.NewError(fhir.KindNotFound, fhir.IssueNotSupported, where)
}

// operate carries out an operation.
func (s *Service) operate(ctx context.Context, request *Request) (*Response, error) {
	c, err := s.newCall(request)
	if err != nil {
		return nil, err
	}
	return request.operation.run(s, ctx, c)
}
