/** A skill: instructions for one kind of task. The text is not published. */
export class SkillDto {
  name!: string;
  /** Purpose of the skill and when to use it; a model sees it shortened to 120 tokens with the name. */
  description!: string;
  license?: string | undefined;
  compatibility?: string | undefined;
  /** Further fields of its file. */
  metadata?: Record<string, string> | undefined;
  /** Agents that have the skill. */
  agents!: string[];
}

/** All skills. */
export class SkillListDto {
  skills!: SkillDto[];
}
