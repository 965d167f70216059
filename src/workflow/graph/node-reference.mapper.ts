import type { NodeDefinition, WorkDefinition } from '../definition/node.schema.js';
import type { Template } from '../definition/condition.schema.js';
import { compileCondition } from '../template/condition.policy.js';
import { compileTemplate } from '../template/template.parser.js';

const OF_ITEMS: readonly string[] = ['item', 'index'];

/** Distinct roots of a node's placeholders. @throws AppError `WORKFLOW_INVALID` */
export function rootsOf(node: NodeDefinition): string[] {
  switch (node.type) {
    case 'branch':
      return unique(node.cases.flatMap(({ when }) => [when].flat().flatMap((one) => compileCondition(one).roots)));
    case 'map':
      return unique([...inTemplates([node.over]), ...inWork(node.node).filter((root) => !OF_ITEMS.includes(root))]);
    case 'llm':
    case 'agent':
    case 'tool':
    case 'code':
    case 'human':
      return inWork(node);
  }
}

function inWork(work: WorkDefinition): string[] {
  switch (work.type) {
    case 'llm':
      return inTemplates([work.prompt, work.instructions]);
    case 'agent':
      return inTemplates([work.message ?? '{{input}}']);
    case 'tool':
    case 'code':
      return inTemplates([work.arguments]);
    case 'human':
      return inTemplates([work.question, work.show ?? null]);
  }
}

function inTemplates(templates: readonly Template[]): string[] {
  return unique(templates.flatMap((template) => compileTemplate(template).roots));
}

function unique(roots: readonly string[]): string[] {
  return [...new Set(roots)];
}
