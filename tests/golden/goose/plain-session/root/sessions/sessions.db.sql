-- wal
CREATE TABLE messages (id integer primary key autoincrement, message_id, session_id, role, content_json, created_timestamp, metadata_json);
INSERT INTO "messages" VALUES(1,'msg_20260202_1_1770000000','20260202_1','user','[{"type": "text", "text": "water the roses"}]',1770000000,'{"userVisible": true, "agentVisible": true}');
INSERT INTO "messages" VALUES(2,'msg_20260202_1_1770000010','20260202_1','assistant','[{"type": "thinking", "thinking": "Where are they?", "signature": "c2lnbmVk"}, {"type": "text", "text": "Let me look."}, {"type": "toolRequest", "id": "call_1", "toolCall": {"status": "success", "value": {"name": "developer__shell", "arguments": {"command": "ls beds"}}}}]',1770000010,'{"userVisible": true, "agentVisible": true}');
INSERT INTO "messages" VALUES(3,'msg_20260202_1_1770000020','20260202_1','user','[{"type": "toolResponse", "id": "call_1", "toolResult": {"status": "success", "value": {"content": [{"type": "text", "text": "roses\n"}], "isError": false}}}]',1770000020,'{"userVisible": true, "agentVisible": true}');
INSERT INTO "messages" VALUES(4,'msg_20260202_1_1770000030','20260202_1','assistant','[{"type": "text", "text": "They are wet."}]',1770000030,'{"userVisible": true, "agentVisible": true}');
INSERT INTO "messages" VALUES(5,'msg_20260202_1_1770000040','20260202_1','user','[{"type": "text", "text": "and the beans?"}, {"type": "image", "data": "aGk=", "mimeType": "image/png"}]',1770000040,'{"userVisible": true, "agentVisible": true}');
INSERT INTO "messages" VALUES(6,'msg_20260202_1_1770000050','20260202_1','assistant','[{"type": "text", "text": "Dry."}]',1770000050,'{"userVisible": true, "agentVisible": true}');
CREATE TABLE schema_version (version integer primary key, applied_at text);
CREATE TABLE sessions (id text primary key, name, description, user_set_name, session_type, working_dir, created_at, updated_at, extension_data, total_tokens, input_tokens, output_tokens, accumulated_total_tokens, accumulated_input_tokens, accumulated_output_tokens, schedule_id, recipe_json, user_recipe_values_json, provider_name, model_config_json, goose_mode);
INSERT INTO "sessions" VALUES('20260202_1','Watering the garden','',NULL,'user','/home/ada/garden','2026-02-02 02:40:00','2026-02-02 02:50:00','{}',1050,1000,50,4200,4000,200,NULL,NULL,NULL,'anthropic','{"model_name":"claude-sonnet-4","context_limit":200000}','auto');
CREATE INDEX idx_messages_session on messages (session_id);
INSERT INTO "schema_version" VALUES(9,'2026-02-02 02:40:00');
