// JSON Schemas of TypeScript types. The plugin of @nestjs/swagger cannot express unions, literals, any JSON
// value, integers and the payloads of events.
import ts from 'typescript';

/** Numbers that are not integers, by the names of their fields. */
const FRACTIONS = new Set([
  'score',
  'mean_score',
  'minScore',
  'maxScore',
  'cost',
  'temperature',
  'topP',
  'frequencyPenalty',
  'presencePenalty',
]);

const { TypeFlags, SymbolFlags } = ts;

/**
 * Schemas of all classes in `*.dto.ts` and of `RunEvent`, by name; they refer to each other by
 * `#/components/schemas/<name>`. Interfaces that they use are schemas of their own.
 */
export function typeSchemas(program) {
  const checker = program.getTypeChecker();
  const components = {};
  const context = { checker, components, classes: new Map() };
  for (const file of program.getSourceFiles()) {
    ts.forEachChild(file, (node) => {
      const isDto = ts.isClassDeclaration(node) && file.fileName.endsWith('.dto.ts');
      const isEvent = ts.isTypeAliasDeclaration(node) && node.name.text === 'RunEvent';
      if (!(isDto || isEvent) || file.isDeclarationFile) return;
      const type = checker.getDeclaredTypeOfSymbol(checker.getSymbolAtLocation(node.name));
      context.classes.set(node.name.text, type);
    });
  }
  for (const [name, type] of context.classes) {
    components[name] = type.isUnion() ? union(type, { ...context, field: '' }) : objectSchema(type, context);
  }
  return Object.fromEntries(Object.entries(components).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function converted(type, context) {
  const name = (type.aliasSymbol ?? type.symbol)?.name;
  if (type.isUnion()) return name === 'JsonValue' ? {} : union(type, context);
  const plain = plainType(type, context);
  if (plain) return plain;
  return type.flags & TypeFlags.Object || type.isIntersection() ? structured(name, type, context) : {};
}

function structured(name, type, context) {
  if (context.checker.isArrayType(type) || context.checker.isTupleType(type)) return listSchema(type, context);
  return isNamed(name, type, context) ? reference(name, type, context) : objectSchema(type, context);
}

function listSchema(type, context) {
  const [item] = context.checker.getTypeArguments(type);
  return { type: 'array', items: item ? converted(item, context) : {} };
}

function plainType(type, { field }) {
  const { flags } = type;
  if (type.isStringLiteral()) return { type: 'string', enum: [type.value] };
  if (flags & TypeFlags.StringLike) return { type: 'string' };
  if (flags & TypeFlags.NumberLike) return { type: FRACTIONS.has(field) ? 'number' : 'integer' };
  if (flags & TypeFlags.BooleanLike) return { type: 'boolean' };
  return flags & TypeFlags.Null ? { type: 'null' } : undefined;
}

/** Whether the type is a class of the document or an interface with fields. */
function isNamed(name, type, { checker, classes }) {
  const isKnown = classes.get(name) === type || ((type.symbol?.flags ?? 0) & SymbolFlags.Interface) !== 0;
  return isKnown && checker.getPropertiesOfType(type).length > 0;
}

function reference(name, type, context) {
  const { components, classes } = context;
  if (!(name in components) && classes.get(name) !== type) {
    components[name] = {};
    components[name] = objectSchema(type, context);
  }
  return { $ref: `#/components/schemas/${name}` };
}

function union(type, context) {
  const types = type.types.filter(({ flags }) => !(flags & TypeFlags.Undefined));
  const literals = types.filter((each) => each.isStringLiteral()).map(({ value }) => value);
  const schemas = [
    ...(literals.length > 0 ? [{ type: 'string', enum: literals }] : []),
    ...types.filter((each) => !each.isStringLiteral()).map((each) => converted(each, context)),
  ];
  // The type of any JSON value, written out.
  const isAny = schemas.some((each) => Object.keys(each).length === 0 || (each.items && isEmpty(each.items)));
  if (isAny) return {};
  const unique = [...new Map(schemas.map((each) => [JSON.stringify(each), each])).values()];
  if (unique.length === 1) return unique[0];
  const [first, second] = unique.filter((each) => each.type !== 'null');
  if (second !== undefined || unique.length > 2 || typeof first.type !== 'string') return { anyOf: unique };
  return { ...first, type: [first.type, 'null'], ...(first.enum && { enum: [...first.enum, null] }) };
}

function isEmpty(schema) {
  return Object.keys(schema).length === 0;
}

function objectSchema(type, context) {
  const { checker } = context;
  const properties = checker.getPropertiesOfType(type).filter(({ flags }) => !(flags & SymbolFlags.Method));
  const index = checker.getIndexInfosOfType(type).find(({ keyType }) => keyType.flags & TypeFlags.String);
  if (properties.length === 0) {
    const values = index ? converted(index.type, context) : {};
    return { type: 'object', additionalProperties: isEmpty(values) ? true : values };
  }
  const required = properties.filter(({ flags }) => !(flags & SymbolFlags.Optional)).map(({ name }) => name);
  return {
    type: 'object',
    ...described(type.symbol, checker),
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(properties.map((property) => [property.name, member(property, context)])),
  };
}

function member(property, context) {
  const schema = converted(context.checker.getTypeOfSymbol(property), { ...context, field: property.name });
  return { ...schema, ...described(property, context.checker) };
}

function described(symbol, checker) {
  if (symbol === undefined) return {};
  const text = ts.displayPartsToString(symbol.getDocumentationComment(checker)).replaceAll(/\s*\n\s*/g, ' ');
  return text === '' ? {} : { description: text };
}
