// Removes the names that esbuild's `keepNames` gives to functions inside of functions. It sets them by `Object.defineProperty` at each
// execution, 8 % of the CPU of a chat, and the engine takes almost all of these names from the code. Names of classes and of
// functions of the module stay: Nest, logs and errors show them.
import { readFileSync, writeFileSync } from 'node:fs';
import ts from 'typescript';

const isNaming = (node) =>
  ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === '__name';

/** `this` names a class, in its static block. */
const namesClass = ({ arguments: [named] }) => named.kind === ts.SyntaxKind.ThisKeyword;

const MARK = '/* @__PURE__ */ ';

/** Whether the code inside of the node executes more than once. */
const isRepeated = (node) => ts.isFunctionLike(node) || ts.isPropertyDeclaration(node);

const isFunction = (node) => ts.isArrowFunction(node) || ts.isFunctionExpression(node);

/** Ranges of the text to remove, in order. */
function rangesOf(source) {
  const ranges = [];
  const visit = (node, isInner) => {
    if (isInner && ts.isExpressionStatement(node) && isNaming(node.expression) && !namesClass(node.expression)) {
      ranges.push([node.getStart(source), node.end]);
      return;
    }
    if (isInner && isNaming(node) && isFunction(node.arguments[0])) {
      const [named] = node.arguments;
      const start = node.getStart(source);
      const from = source.text.startsWith(MARK, start - MARK.length) ? start - MARK.length : start;
      ranges.push([from, named.getStart(source)], [named.end, node.end]);
    }
    ts.forEachChild(node, (child) => visit(child, isInner || isRepeated(node)));
  };
  visit(source, false);
  return ranges.toSorted(([a], [b]) => a - b);
}

/** Rewrites a bundled file. */
export function removeInnerNames(file) {
  const text = readFileSync(file, 'utf8');
  const ranges = rangesOf(ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
  const kept = ranges.map(([start], at) => text.slice(at === 0 ? 0 : ranges[at - 1][1], start));
  writeFileSync(file, kept.join('') + text.slice(ranges.at(-1)?.[1] ?? 0));
}
