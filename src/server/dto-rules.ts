import {
  ARRAY_MAX_SIZE,
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

/** The class-validator rules of one field, in their order. */
interface FieldRules {
  readonly property: string;
  readonly conditions: readonly Metadata[];
  readonly rules: readonly Rule[];
  /** Whether a rule descends into the value; class-validator must check it. */
  readonly isNested: boolean;
}

type ClassRules = ReadonlyMap<string, FieldRules>;

const rulesOf = new WeakMap<object, ClassRules>();

/**
 * Whether an instance of a DTO certainly satisfies the rules of its class and has only known fields. After `false`,
 * class-validator must check the instance; it also reports the mistakes. This is faster than class-validator, which
 * collects the rules of the class for each value again. Groups, schemas and options that skip rules are not supported.
 */
export function isSurelyValid(dto: object, options: ValidatorOptions): boolean {
  if (options.groups || options.skipMissingProperties) return false;
  const rules = classRules(dto.constructor);
  const names = Object.keys(dto);
  return (
    rules.size > 0 &&
    names.every((name) => rules.has(name)) &&
    [...rules.values()].every((field) => isFieldValid(field, dto))
  );
}

function isFieldValid({ property, conditions, rules, isNested }: FieldRules, dto: object): boolean {
  const value: unknown = dto[property as keyof typeof dto];
  const applies = conditions.every(({ constraints }) => (constraints[0] as Condition)(dto, value));
  if (!applies) return true;
  if (isNested) return false;
  return rules.every((rule) => passes(rule, dto, value));
}

/** Indices of a list's elements that break an `each` rule; empty for a rule of the list itself. */
export function brokenElements(dto: object, property: string, rule: string): number[] {
  const field = classRules(dto.constructor).get(property);
  const values: unknown = dto[property as keyof typeof dto];
  const broken = field?.rules.find(({ metadata }) => metadata.each && (metadata.name ?? metadata.type) === rule);
  if (!broken || !Array.isArray(values)) return [];
  return values.flatMap((one, at) => (passes(broken, dto, [one]) ? [] : [at]));
}

/** Whether a class has a field; every name is a field of a class without rules. */
export function isKnown(type: Function, property: string): boolean {
  const rules = classRules(type);
  return rules.size === 0 || rules.has(property);
}

export function fieldNames(type: Function): string[] {
  return [...classRules(type).keys()];
}

/** Whether class-validator checks the objects in a field by their own class. */
export function hasNestedClass(type: Function, property: string): boolean {
  return classRules(type).get(property)?.isNested ?? false;
}

/** Maximum length of a list field; infinite without the rule `ArrayMaxSize`. */
export function maxElements(type: Function, property: string): number {
  const rules = classRules(type).get(property)?.rules ?? [];
  const max: unknown = rules.find(({ metadata }) => metadata.name === ARRAY_MAX_SIZE)?.metadata.constraints?.[0];
  return typeof max === 'number' ? max : Number.POSITIVE_INFINITY;
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
  // A rule that returns a promise does not pass: a promise is not `true`.
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
    isNested:
      checks.some(({ validateIf }) => validateIf !== undefined) ||
      ofType(ValidationTypes.NESTED_VALIDATION, ValidationTypes.PROMISE_VALIDATION).length > 0,
  };
}
