import { serve } from 'jackdaw';
import { AppModule } from './app.module.js';

await serve({ imports: [AppModule] });
