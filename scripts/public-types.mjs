// Writes one declaration file with all types reachable from the public API. A user's compiler then parses neither our modules nor
// the declarations of libraries that only our modules import.
import { writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';

const OPTIONS = {
  noLib: true,
  types: [],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
};

/**
 * Bundles the declarations at `entry`, compiled by tsc, into one file. Libraries stay imports and are not read.
 * @param base another entry, and the module by which its exports are imported: a class with private members has one declaration
 */
export function writePublicTypes(entry, file, base) {
  writeFileSync(file, new Roll(resolve(entry), base).text());
}

class Roll {
  #checker;
  #entry;
  /** Found declarations: our own by symbol, those of libraries by module and name. */
  #own = new Map();
  #foreign = new Map();
  /** Module and name of the declarations that the base exports, by symbol. */
  #shared = new Map();
  #names = new Set();
  #public = new Set();
  /** Base classes, whose constructors are inherited. */
  #extended = new Set();

  constructor(entry, base) {
    const host = ts.createCompilerHost(OPTIONS);
    host.resolveModuleNameLiterals = (literals, from) =>
      literals.map(({ text }) => ({ resolvedModule: own(text, from) }));
    const program = ts.createProgram([entry, ...(base ? [resolve(base.entry)] : [])], OPTIONS, host);
    this.#checker = program.getTypeChecker();
    this.#entry = program.getSourceFile(entry);
    for (const source of program.getSourceFiles()) this.#look(source);
    if (base) this.#share(program.getSourceFile(resolve(base.entry)), base.module);
  }

  #share(source, module) {
    for (const symbol of this.#checker.getExportsOfModule(this.#checker.getSymbolAtLocation(source)))
      this.#shared.set(this.#target(symbol), { module, name: symbol.name });
  }

  text() {
    const symbols = this.#checker.getExportsOfModule(this.#checker.getSymbolAtLocation(this.#entry));
    // Public names are reserved first.
    const exported = symbols.map((symbol) => [symbol.name, this.#take(this.#target(symbol), symbol.name)]);
    this.#public = new Set(this.#own.keys());
    const bodies = [];
    // #print adds entries to #own during the iteration.
    for (const [symbol, name] of this.#own) bodies.push(...symbol.declarations.map((one) => this.#print(one, name)));
    const imports = [...Map.groupBy(this.#foreign.values(), ({ module }) => module)].map(importLine).toSorted();
    const names = exported.map(([name, local]) => (name === local ? name : `${local} as ${name}`));
    return `${[...imports, ...bodies, `export { ${names.join(', ')} };`].join('\n')}\n`;
  }

  /** Visits all sources once. It reserves names that refer to no declaration of a module, so they keep their meaning. */
  #look(source) {
    const visit = (node) => {
      if (ts.isImportDeclaration(node)) return;
      if (ts.isIdentifier(node) && !this.#isKnown(node)) this.#names.add(node.text);
      if (ts.isExpressionWithTypeArguments(node)) this.#extended.add(this.#declared(node.expression));
      ts.forEachChild(node, visit);
    };
    visit(source);
  }

  #isKnown(identifier) {
    return Boolean(this.#checker.getSymbolAtLocation(identifier)?.declarations ?? foreignImport(identifier));
  }

  #take(symbol, wished) {
    const known = this.#own.get(symbol);
    if (known) return known;
    const name = this.#unused(wished);
    this.#own.set(symbol, name);
    return name;
  }

  #takeForeign(specifier) {
    const module = specifier.parent.parent.parent.moduleSpecifier.text;
    return this.#import({ module, name: (specifier.propertyName ?? specifier.name).text }, specifier.name.text);
  }

  #import({ module, name }, wished = name) {
    const key = `${module}#${name}`;
    if (!this.#foreign.has(key)) this.#foreign.set(key, { module, name, local: this.#unused(wished) });
    return this.#foreign.get(key).local;
  }

  #unused(wished) {
    let name = wished;
    for (let n = 2; this.#names.has(name); n++) name = `${wished}_${n}`;
    this.#names.add(name);
    return name;
  }

  /** Follows our own re-exports to the declared symbol. */
  #target(symbol) {
    return symbol.flags & ts.SymbolFlags.Alias && !foreignSpecifier(symbol)
      ? this.#target(this.#checker.getImmediateAliasedSymbol(symbol))
      : symbol;
  }

  /** The name in the output file for the declaration of an identifier; undefined if it is not a declaration of a module. */
  #nameOf(identifier) {
    // Libraries are not read, so the checker has no symbol for their exports.
    const symbol = this.#declared(identifier);
    const specifier = symbol ? foreignSpecifier(symbol) : foreignImport(identifier);
    if (specifier) return this.#takeForeign(specifier);
    if (!symbol) return undefined;
    const shared = this.#shared.get(symbol);
    if (shared) return this.#import(shared);
    return symbol.declarations?.some(isTopLevel) ? this.#take(symbol, symbol.name) : undefined;
  }

  /**
   * Whether users of the package never call a constructor: its class is not public, or a parameter's class is not public, so that
   * only Nest can inject it. Its parameters are then omitted.
   */
  #isHidden(constructor) {
    const made = this.#checker.getSymbolAtLocation(constructor.parent.name);
    if (!this.#public.has(made) && !this.#extended.has(made)) return true;
    return constructor.parameters.some(({ type }) => {
      const target = type && ts.isTypeReferenceNode(type) && this.#declared(type.typeName);
      return Boolean(
        target && target.flags & ts.SymbolFlags.Class && !this.#public.has(target) && !this.#shared.has(target),
      );
    });
  }

  /** Our own declaration of an identifier. */
  #declared(identifier) {
    const symbol = this.#checker.getSymbolAtLocation(identifier);
    return symbol?.declarations && this.#target(symbol);
  }

  #print(declaration, name) {
    const statement = statementOf(declaration);
    const source = statement.getSourceFile();
    const edits = [];
    const visit = (node) => {
      const replacement = node === declaration.name ? { text: name } : this.#replacement(node);
      if (ts.isPropertySignature(node) || ts.isPropertyDeclaration(node)) edits.push(...undefinedAllowed(node, source));
      if (replacement) edits.push([node.getStart(source), (replacement.until ?? node).getEnd(), replacement.text]);
      for (const child of replacement ? (replacement.rest ?? []) : childrenOf(node)) visit(child);
    };
    for (const child of childrenOf(statement)) visit(child);
    const exporting = statement.modifiers?.find(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    if (exporting) edits.push([exporting.getStart(source), exporting.getEnd() + 1, '']);
    return edited(source.text, statement.getFullStart(), statement.getEnd(), edits).trim();
  }

  /** The replacement of a node or of its first part; undefined if the node stays unchanged. */
  #replacement(node) {
    if (ts.isIdentifier(node)) {
      const known = this.#nameOf(node);
      return known === undefined || known === node.text ? undefined : { text: known };
    }
    if (ts.isImportTypeNode(node) && isOwn(node.argument.literal.text)) {
      const known = this.#nameOf(node.qualifier);
      return { text: node.isTypeOf ? `typeof ${known}` : known, until: node.qualifier, rest: node.typeArguments };
    }
    if (ts.isConstructorDeclaration(node) && this.#isHidden(node))
      return { text: 'constructor(...injected: never[]);' };
    return undefined;
  }
}

/** Options accept `undefined` where the user's compiler has `exactOptionalPropertyTypes`, which ours has not. */
function undefinedAllowed({ questionToken, type }, source) {
  if (!questionToken || !type || (ts.isUnionTypeNode(type) && type.types.some(isUndefined))) return [];
  const [start, end] = [type.getStart(source), type.getEnd()];
  const isClosed = !ts.isFunctionTypeNode(type) && !ts.isConstructorTypeNode(type) && !ts.isConditionalTypeNode(type);
  if (isClosed) return [[end, end, ' | undefined']];
  return [
    [start, start, '('],
    [end, end, ') | undefined'],
  ];
}

function isUndefined({ kind }) {
  return kind === ts.SyntaxKind.UndefinedKeyword;
}

function own(specifier, from) {
  if (!isOwn(specifier)) return undefined;
  return { resolvedFileName: join(dirname(from), specifier.replace(/\.js$/, '.d.ts')), extension: '.d.ts' };
}

function isOwn(specifier) {
  return specifier.startsWith('.');
}

/** The import specifier of a library for an identifier in its file. */
function foreignImport({ text, parent }, source = parent.getSourceFile()) {
  if (ts.isPropertyAccessExpression(parent)) return undefined;
  return source.statements
    .filter((statement) => ts.isImportDeclaration(statement) && !isOwn(statement.moduleSpecifier.text))
    .flatMap(({ importClause }) => importClause?.namedBindings?.elements ?? [])
    .find(({ name }) => name.text === text);
}

/** The import specifier of a symbol, if it comes from a library. */
function foreignSpecifier(symbol) {
  const specifier = symbol.declarations?.find(ts.isImportSpecifier);
  return specifier && !isOwn(specifier.parent.parent.parent.moduleSpecifier.text) ? specifier : undefined;
}

function isTopLevel(declaration) {
  return ts.isSourceFile(statementOf(declaration).parent);
}

function statementOf(declaration) {
  return ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
}

function childrenOf(node) {
  const children = [];
  ts.forEachChild(node, (child) => void children.push(child));
  return children;
}

function edited(text, from, to, edits) {
  let result = '';
  let at = from;
  for (const [start, end, replacement] of edits.toSorted(([a], [b]) => a - b)) {
    result += text.slice(at, start) + replacement;
    at = end;
  }
  return result + text.slice(at, to);
}

function importLine([module, all]) {
  const names = all.map(({ name, local }) => (name === local ? name : `${name} as ${local}`));
  return `import { ${names.toSorted().join(', ')} } from '${module}';`;
}
