import { Controller, Get } from '@nestjs/common';
import { SkillRegistry } from '../agent/index.js';
import { AgentRegistry } from '../agent/definition/index.js';
import { Requires } from '../security/index.js';
import { SkillListDto } from './skill.dto.js';

@Requires('tools:read')
@Controller('skills')
export class SkillController {
  constructor(
    private readonly skills: SkillRegistry,
    private readonly agents: AgentRegistry,
  ) {}

  /** All valid skills, in order of their names; `GET /api/agent/health` reports the invalid ones. */
  @Get()
  list(): SkillListDto {
    const agents = this.agents.list();
    const skills = this.skills.list().map(({ name, description, license, compatibility, metadata }) => ({
      name,
      description,
      ...(license !== undefined && { license }),
      ...(compatibility !== undefined && { compatibility }),
      ...(metadata && { metadata: { ...metadata } }),
      agents: agents
        .filter(({ offeredSkills = [] }) => offeredSkills.some((skill) => skill.name === name))
        .map((agent) => agent.name),
    }));
    return { skills };
  }
}
