// Writes one declaration file of what the public face reaches, so that who uses the package neither parses our modules nor
// the declarations of libraries that only they know.
import { writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';

const OPTIONS = {
  noLib: true,
  types: [],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
};

/** From the declarations at `entry`, compiled by tsc, into one file. Libraries stay imports; nothing of them is read. */
export function writePublicTypes(entry, file) {
  writeFileSync(file, new Roll(resolve(entry)).text());
}

class Roll {
  #checker;
  #entry;
  /** What was found, by symbol: our own declarations, and what comes from libraries by module and name. */
  #own = new Map();
  #foreign = new Map();
  #names = new Set();
  #face = new Set();
  /** Classes that others build on, whose constructors are inherited. */
  #extended = new Set();

  constructor(entry) {
    const host = ts.createCompilerHost(OPTIONS);
    host.resolveModuleNameLiterals = (literals, from) =>
      literals.map(({ text }) => ({ resolvedModule: own(text, from) }));
    const program = ts.createProgram([entry], OPTIONS, host);
    this.#checker = program.getTypeChecker();
    this.#entry = program.getSourceFile(entry);
    for (const source of program.getSourceFiles()) this.#look(source);
  }

  text() {
    const face = this.#checker.getExportsOfModule(this.#checker.getSymbolAtLocation(this.#entry));
    // The names that users know are given first.
    const exported = face.map((symbol) => [symbol.name, this.#take(this.#target(symbol), symbol.name)]);
    this.#face = new Set(this.#own.keys());
    const bodies = [];
    // Grows while it is gone through.
    for (const [symbol, name] of this.#own) bodies.push(...symbol.declarations.map((one) => this.#print(one, name)));
    const imports = [...Map.groupBy(this.#foreign.values(), ({ module }) => module)].map(importLine).toSorted();
    const names = exported.map(([name, local]) => (name === local ? name : `${local} as ${name}`));
    return `${[...imports, ...bodies, `export { ${names.join(', ')} };`].join('\n')}\n`;
  }

  /** Once over all: a name that stands for no declaration of a module must go on doing so. */
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
    const name = (specifier.propertyName ?? specifier.name).text;
    const key = `${module}#${name}`;
    if (!this.#foreign.has(key)) this.#foreign.set(key, { module, name, local: this.#unused(specifier.name.text) });
    return this.#foreign.get(key).local;
  }

  #unused(wished) {
    let name = wished;
    for (let n = 2; this.#names.has(name); n++) name = `${wished}_${n}`;
    this.#names.add(name);
    return name;
  }

  /** Through our own re-exports, as far as they lead. */
  #target(symbol) {
    return symbol.flags & ts.SymbolFlags.Alias && !foreignSpecifier(symbol)
      ? this.#target(this.#checker.getImmediateAliasedSymbol(symbol))
      : symbol;
  }

  /** The name by which what an identifier stands for is known in the one file; nothing if it is no declaration of a module. */
  #nameOf(identifier) {
    // Where a library is not read, what comes from it is nothing to the checker.
    const symbol = this.#declared(identifier);
    const specifier = symbol ? foreignSpecifier(symbol) : foreignImport(identifier);
    if (specifier) return this.#takeForeign(specifier);
    if (!symbol) return undefined;
    return symbol.declarations?.some(isTopLevel) ? this.#take(symbol, symbol.name) : undefined;
  }

  /**
   * Whether nobody who uses the package calls a constructor: their class is not on the face, or it takes what is not, which is Nest's
   * to give. What it takes is nobody's business then.
   */
  #isHidden(constructor) {
    const made = this.#checker.getSymbolAtLocation(constructor.parent.name);
    if (!this.#face.has(made) && !this.#extended.has(made)) return true;
    return constructor.parameters.some(({ type }) => {
      const target = type && ts.isTypeReferenceNode(type) && this.#declared(type.typeName);
      return Boolean(target && target.flags & ts.SymbolFlags.Class && !this.#face.has(target));
    });
  }

  /** What of ours an identifier leads to. */
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
      if (replacement) edits.push([node.getStart(source), (replacement.until ?? node).getEnd(), replacement.text]);
      for (const child of replacement ? (replacement.rest ?? []) : childrenOf(node)) visit(child);
    };
    for (const child of childrenOf(statement)) visit(child);
    const exporting = statement.modifiers?.find(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    if (exporting) edits.push([exporting.getStart(source), exporting.getEnd() + 1, '']);
    return edited(source.text, statement.getFullStart(), statement.getEnd(), edits).trim();
  }

  /** What stands in the place of a node, or of its beginning; nothing where it stays as it is. */
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

function own(specifier, from) {
  if (!isOwn(specifier)) return undefined;
  return { resolvedFileName: join(dirname(from), specifier.replace(/\.js$/, '.d.ts')), extension: '.d.ts' };
}

function isOwn(specifier) {
  return specifier.startsWith('.');
}

/** What of a library is imported under that name where it stands. */
function foreignImport({ text, parent }, source = parent.getSourceFile()) {
  if (ts.isPropertyAccessExpression(parent)) return undefined;
  return source.statements
    .filter((statement) => ts.isImportDeclaration(statement) && !isOwn(statement.moduleSpecifier.text))
    .flatMap(({ importClause }) => importClause?.namedBindings?.elements ?? [])
    .find(({ name }) => name.text === text);
}

/** What imports it, if that is a library's. */
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
