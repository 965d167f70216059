import ts from 'typescript';

const FILE = 'src/run/event/run-event.types.ts';

export interface EventShape {
  readonly type: string;
  readonly isLive: boolean;
  /** Without `type`; optional members end with `?`. */
  readonly members: readonly string[];
}

/** The run events as the compiler sees them: one entry for each member of the unions. */
export function eventShapes(): EventShape[] {
  const program = ts.createProgram([FILE], {
    strict: true,
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    skipLibCheck: true,
  });
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(program.getSourceFile(FILE)!)!;
  const named = new Map(checker.getExportsOfModule(module).map((symbol) => [symbol.name, symbol]));
  const membersOf = (union: string): readonly ts.Type[] => {
    const type = checker.getDeclaredTypeOfSymbol(named.get(union)!);
    return type.isUnion() ? type.types : [type];
  };
  const live = new Set(membersOf('LiveEvent'));
  return membersOf('RunEvent').map((event) => shapeOf(checker, event, live.has(event)));
}

function shapeOf(checker: ts.TypeChecker, event: ts.Type, isLive: boolean): EventShape {
  const type = checker.getTypeOfSymbol(event.getProperty('type')!) as ts.StringLiteralType;
  const others = checker.getPropertiesOfType(event).filter(({ name }) => name !== 'type');
  const members = others.map(({ name, flags }) => (flags & ts.SymbolFlags.Optional ? `${name}?` : name));
  return { type: type.value, isLive, members };
}
