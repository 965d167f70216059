import {
  getMetadataStorage,
  IS_OBJECT,
  ValidationTypes,
  type ValidationArguments,
  type ValidatorConstraintInterface,
  type ValidatorOptions,
} from 'class-validator';

type Metadata = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];

interface Rule {
  readonly metadata: Metadata;
  readonly constraint: ValidatorConstraintInterface;
}

/** What class-validator knows of one field, in its order. */
interface FieldRules {
  readonly property: string;
  readonly conditions: readonly Metadata[];
  readonly rules: readonly Rule[];
  /** A rule that looks into the value: class-validator does that. */
  readonly looksInside: boolean;
}

type ClassRules = ReadonlyMap<string, FieldRules>;

const rulesOf = new WeakMap<object, ClassRules>();

/**
 * Whether an instance of a DTO surely keeps to the rules of its class and has no field but those it names. `false` says no more than
 * that class-validator is to be asked, which also knows what is wrong: it gathers the rules of a class anew for each value,
 * which takes longer than to check them. Groups, schemas and options that let something pass are not for this.
 */
export function isSurelyValid(dto: object, options: ValidatorOptions): boolean {
  if (options.groups || options.skipMissingProperties) return false;
  const rules = classRules(dto.constructor);
  const names = Object.keys(dto);
  return (
    rules.size > 0 && names.every((name) => rules.has(name)) && [...rules.values()].every((field) => holds(field, dto))
  );
}

function holds({ property, conditions, rules, looksInside }: FieldRules, dto: object): boolean {
  const value: unknown = dto[property as keyof typeof dto];
  const isMeant = conditions.every(({ constraints }) => (constraints[0] as Condition)(dto, value));
  if (!isMeant) return true;
  if (looksInside) return false;
  return rules.every((rule) => passes(rule, dto, value));
}

/** The elements of a list that break a rule which is for each of them; none for a rule of the list itself. */
export function brokenElements(dto: object, property: string, rule: string): number[] {
  const field = classRules(dto.constructor).get(property);
  const values: unknown = dto[property as keyof typeof dto];
  const broken = field?.rules.find(({ metadata }) => metadata.each && (metadata.name ?? metadata.type) === rule);
  if (!broken || !Array.isArray(values)) return [];
  return values.flatMap((one, at) => (passes(broken, dto, [one]) ? [] : [at]));
}

/** Whether a field of a class has the rule `IsObject`. */
export function takesOnlyObjects(type: Function, property: string): boolean {
  const rules = classRules(type).get(property)?.rules ?? [];
  return rules.some(({ metadata }) => (metadata.name ?? metadata.type) === IS_OBJECT);
}

type Condition = (dto: object, value: unknown) => boolean;

function passes({ metadata, constraint }: Rule, object: object, value: unknown): boolean {
  const { propertyName: property, constraints } = metadata;
  const args: ValidationArguments = { targetName: object.constructor.name, property, object, value, constraints };
  const values: readonly unknown[] = metadata.each && Array.isArray(value) ? value : [value];
  // A promise is not `true`.
  return values.every((one) => constraint.validate(one, args) === true);
}

function classRules(type: Function): ClassRules {
  let rules = rulesOf.get(type);
  if (!rules) rulesOf.set(type, (rules = gather(type)));
  return rules;
}

function gather(type: Function): ClassRules {
  const storage = getMetadataStorage();
  const all = storage.getTargetValidationMetadatas(type, '', false, false);
  const fields = Object.entries(storage.groupByPropertyName(all));
  return new Map(fields.map(([property, metadatas]) => [property, toField(property, metadatas)]));
}

function toField(property: string, metadatas: readonly Metadata[]): FieldRules {
  const storage = getMetadataStorage();
  const ofType = (...types: string[]) => metadatas.filter(({ type }) => types.includes(type));
  const checks = ofType(ValidationTypes.CUSTOM_VALIDATION, ValidationTypes.IS_DEFINED);
  return {
    property,
    conditions: ofType(ValidationTypes.CONDITIONAL_VALIDATION),
    rules: checks.flatMap((metadata) =>
      storage
        .getTargetValidatorConstraints(metadata.constraintCls)
        .map(({ instance }) => ({ metadata, constraint: instance })),
    ),
    looksInside:
      checks.some(({ validateIf }) => validateIf !== undefined) ||
      ofType(ValidationTypes.NESTED_VALIDATION, ValidationTypes.PROMISE_VALIDATION).length > 0,
  };
}
