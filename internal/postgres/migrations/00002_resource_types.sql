-- +goose Up
-- The resource types of R4 4.0.1, numbered in this order for good. A later
-- migration adds types at the end.
INSERT INTO resource_type (id, name)
SELECT n, name FROM unnest(ARRAY[
    'Account', 'ActivityDefinition', 'AdverseEvent', 'AllergyIntolerance', 'Appointment',
    'AppointmentResponse', 'AuditEvent', 'Basic', 'Binary', 'BiologicallyDerivedProduct',
    'BodyStructure', 'Bundle', 'CapabilityStatement', 'CarePlan', 'CareTeam', 'CatalogEntry',
    'ChargeItem', 'ChargeItemDefinition', 'Claim', 'ClaimResponse', 'ClinicalImpression', 'CodeSystem',
    'Communication', 'CommunicationRequest', 'CompartmentDefinition', 'Composition', 'ConceptMap',
    'Condition', 'Consent', 'Contract', 'Coverage', 'CoverageEligibilityRequest',
    'CoverageEligibilityResponse', 'DetectedIssue', 'Device', 'DeviceDefinition', 'DeviceMetric',
    'DeviceRequest', 'DeviceUseStatement', 'DiagnosticReport', 'DocumentManifest', 'DocumentReference',
    'EffectEvidenceSynthesis', 'Encounter', 'Endpoint', 'EnrollmentRequest', 'EnrollmentResponse',
    'EpisodeOfCare', 'EventDefinition', 'Evidence', 'EvidenceVariable', 'ExampleScenario',
    'ExplanationOfBenefit', 'FamilyMemberHistory', 'Flag', 'Goal', 'GraphDefinition', 'Group',
    'GuidanceResponse', 'HealthcareService', 'ImagingStudy', 'Immunization', 'ImmunizationEvaluation',
    'ImmunizationRecommendation', 'ImplementationGuide', 'InsurancePlan', 'Invoice', 'Library',
    'Linkage', 'List', 'Location', 'Measure', 'MeasureReport', 'Media', 'Medication',
    'MedicationAdministration', 'MedicationDispense', 'MedicationKnowledge', 'MedicationRequest',
    'MedicationStatement', 'MedicinalProduct', 'MedicinalProductAuthorization',
    'MedicinalProductContraindication', 'MedicinalProductIndication', 'MedicinalProductIngredient',
    'MedicinalProductInteraction', 'MedicinalProductManufactured', 'MedicinalProductPackaged',
    'MedicinalProductPharmaceutical', 'MedicinalProductUndesirableEffect', 'MessageDefinition',
    'MessageHeader', 'MolecularSequence', 'NamingSystem', 'NutritionOrder', 'Observation',
    'ObservationDefinition', 'OperationDefinition', 'OperationOutcome', 'Organization',
    'OrganizationAffiliation', 'Parameters', 'Patient', 'PaymentNotice', 'PaymentReconciliation',
    'Person', 'PlanDefinition', 'Practitioner', 'PractitionerRole', 'Procedure', 'Provenance',
    'Questionnaire', 'QuestionnaireResponse', 'RelatedPerson', 'RequestGroup', 'ResearchDefinition',
    'ResearchElementDefinition', 'ResearchStudy', 'ResearchSubject', 'RiskAssessment',
    'RiskEvidenceSynthesis', 'Schedule', 'SearchParameter', 'ServiceRequest', 'Slot', 'Specimen',
    'SpecimenDefinition', 'StructureDefinition', 'StructureMap', 'Subscription', 'Substance',
    'SubstanceNucleicAcid', 'SubstancePolymer', 'SubstanceProtein', 'SubstanceReferenceInformation',
    'SubstanceSourceMaterial', 'SubstanceSpecification', 'SupplyDelivery', 'SupplyRequest', 'Task',
    'TerminologyCapabilities', 'TestReport', 'TestScript', 'ValueSet', 'VerificationResult',
    'VisionPrescription'
]) WITH ORDINALITY AS t(name, n);

-- A view for each type gives its current resources as jsonb, put together as
-- the server does: by concatenation.
CREATE SCHEMA fhir;
-- +goose StatementBegin
DO $do$
DECLARE t record;
BEGIN
  FOR t IN SELECT id, name FROM resource_type LOOP
    EXECUTE format($view$
      CREATE VIEW fhir.%I AS
      SELECT r.id, v.version AS version_id, v.updated AS last_updated, resource_json(%L, r.id, v.version, v.updated, v.meta, v.body) AS resource
      FROM resource r JOIN version v ON v.rid = r.rid AND v.version = r.version
      WHERE r.type = %s AND NOT r.deleted
    $view$, t.name, t.name, t.id);
  END LOOP;
END
$do$;
-- +goose StatementEnd
