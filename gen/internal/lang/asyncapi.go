package lang

import (
	"encoding/json"
	"fmt"
)

// asyncAPI writes a document of AsyncAPI 3.0: a channel for each queue and a message
// for each job, which programs send and workers receive.
func asyncAPI(v *view) []file {
	channels, operations, messages := object{}, object{}, object{}
	for _, queue := range v.queues {
		carried := object{}
		for _, job := range queue.jobs {
			key := queue.GoName + "." + job.GoName
			messages[key] = v.message(job)
			carried[job.GoName] = object{"$ref": "#/components/messages/" + key}
			for action, verb := range map[string]string{"send": "enqueue", "receive": "handle"} {
				operations[verb+job.GoName+"Of"+queue.GoName] = object{
					"action": action, "channel": object{"$ref": "#/channels/" + queue.GoName},
					"messages": []any{object{"$ref": fmt.Sprintf("#/channels/%s/messages/%s", queue.GoName, job.GoName)}},
				}
			}
		}
		channels[queue.GoName] = object{"address": queue.Name, "title": "Queue " + queue.Name, "messages": carried}
	}
	return []file{{v.pkg.Name + ".asyncapi.json", document(object{
		"asyncapi":           "3.0.0",
		"x-generated":        Header,
		"info":               object{"title": "Jobs of package " + v.pkg.Name, "version": "1"},
		"defaultContentType": "application/json",
		"channels":           channels,
		"operations":         operations,
		"components":         object{"messages": messages, "schemas": v.schemas(schemaRefs)},
	})}}
}

const schemaRefs = "#/components/schemas/"

func (v *view) message(job jobView) object {
	said := object{
		"name": job.Name, "title": job.GoName, "payload": v.schemaOf(job.payload, schemaRefs),
		"x-payload-version": job.Version, "x-codec": or(job.Codec, codecJSON),
	}
	if job.Doc != "" {
		said["description"] = job.Doc
	}
	if opts := job.opts(); opts != "" {
		said["x-opts"] = json.RawMessage(opts)
	}
	if job.result != nil {
		said["x-result"] = v.schemaOf(*job.result, schemaRefs)
	}
	return said
}
