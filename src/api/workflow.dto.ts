import { IsBoolean, IsInt, IsObject, Matches, Max, Min } from 'class-validator';
import { MAX_PRIORITY } from '../run/index.js';
import { AsItCame } from './as-it-came.decorator.js';
import { LONGEST_DEADLINE_MS } from './background-request.dto.js';
import { MayBeLeftOut } from './may-be-left-out.decorator.js';

/** A run of a workflow. */
export class WorkflowRunDto {
  /** As the workflow's `input` says; empty when it is left out. */
  @MayBeLeftOut()
  @IsObject()
  @AsItCame()
  input?: Record<string, unknown>;

  /** The session in which the workflow's agents remember what they were asked; the run holds it while it goes on. */
  @MayBeLeftOut()
  @Matches(/^[A-Za-z0-9_-]{1,128}$/, { message: 'sessionId must be 1 to 128 of A-Z a-z 0-9 _ -' })
  sessionId?: string;

  /** Whether to wait until the run has ended or waits for a person; by default it goes on in the background. */
  @MayBeLeftOut()
  @IsBoolean()
  wait?: boolean = false;

  /** 0 to 9: of runs that wait for their turn, the higher goes first. Of no use with `wait`. */
  @MayBeLeftOut()
  @IsInt()
  @Min(0)
  @Max(MAX_PRIORITY)
  priority?: number = 0;

  /** Milliseconds from now after which the run ends, whatever it does or waits for. */
  @MayBeLeftOut()
  @IsInt()
  @Min(1)
  @Max(LONGEST_DEADLINE_MS)
  deadlineMs?: number;
}

/** A node of a workflow. What a model is asked and told is nobody's but its author's: it is not here. */
export class WorkflowNodeDto {
  id!: string;
  /** `llm`, `agent`, `tool`, `code`, `branch`, `map` or `human`. */
  type!: string;
  description?: string;
  /** The agent, tool or code that it asks, where it has a name. */
  uses?: string;
}

/** A way from a node to another one. */
export class WorkflowEdgeDto {
  from!: string;
  to!: string;
  /** `next`, `branch`, or `fallback`: the way of a node that fails. */
  kind!: string;
}

/** A workflow. */
export class WorkflowDto {
  name!: string;
  description!: string;
  /** The JSON Schema of its input, where it says it. */
  input?: Record<string, unknown>;
  nodes!: WorkflowNodeDto[];
  edges!: WorkflowEdgeDto[];
  /** The graph as a Mermaid flowchart. */
  mermaid!: string;
}

/** All workflows. */
export class WorkflowListDto {
  workflows!: WorkflowDto[];
}
