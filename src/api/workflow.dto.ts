import { IsBoolean, IsInt, IsObject, Max, Min } from 'class-validator';
import { IsId } from './is-id.decorator.js';
import { MAX_PRIORITY } from '../run/index.js';
import type { NodeKind } from '../run/event/index.js';
import { RawJson } from './raw-json.decorator.js';
import { LONGEST_DEADLINE_MS } from './chat-request.dto.js';
import { Omittable } from './omittable.decorator.js';

/** Starts a run of a workflow. */
export class WorkflowRunDto {
  /** Input, in the format of the workflow's `input`; if omitted, empty. */
  @Omittable()
  @IsObject()
  @RawJson()
  input?: Record<string, unknown>;

  /** The session for the memory of the workflow's agents. The run locks it until the run ends. */
  @Omittable()
  @IsId()
  sessionId?: string;

  /**
   * Whether the request waits until the run has ended or waits for a decision; by default the run continues in the
   * background.
   */
  @Omittable()
  @IsBoolean()
  wait?: boolean = false;

  /** Priority in the queue, 0 to 9; runs with a higher priority start first. Has no effect with `wait`. */
  @Omittable()
  @IsInt()
  @Min(0)
  @Max(MAX_PRIORITY)
  priority?: number = 0;

  /** Deadline in ms from now. The run ends at the deadline in any status. */
  @Omittable()
  @IsInt()
  @Min(1)
  @Max(LONGEST_DEADLINE_MS)
  deadlineMs?: number;
}

/** A node of a workflow. Prompts and instructions are not published. */
export class WorkflowNodeDto {
  id!: string;
  type!: NodeKind;
  description?: string;
  /** Name of its agent, tool or code. */
  uses?: string;
}

/** An edge from one node to another. */
export class WorkflowEdgeDto {
  from!: string;
  to!: string;
  /** `fallback`: taken if the node fails. */
  kind!: 'next' | 'branch' | 'fallback';
}

/** A workflow. */
export class WorkflowDto {
  name!: string;
  description!: string;
  /** JSON Schema of its input, if declared. */
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
